import { z } from 'zod';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';

const formatter = (timeZone: string): Intl.DateTimeFormat => {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      dateStyle: undefined,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch {
    throw new ToolError(`unknown time zone ${timeZone}: give an IANA name such as Europe/Paris or America/New_York`);
  }
};

export const currentTime = builtinTool({
  slug: 'current_time',
  area: 'general',
  description:
    'Tells the current date and time. Use it whenever an answer depends on today, now or how long ago something was: ' +
    'you cannot know the time otherwise. Returns {utc, timezone, local, weekday}, times as ISO 8601 with their offset.',
  effect: 'read',
  isQuick: true,
  args: z.strictObject({
    timezone: z.string().min(1).max(100).default('UTC').describe('IANA name, for example Europe/Paris'),
  }),
  async execute({ timezone }, { now }) {
    const at = now();
    const parts = formatter(timezone).formatToParts(at);
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
    const date = `${part('year')}-${part('month')}-${part('day')}`;
    // The part is `GMT+02:00`, and bare `GMT` for no offset.
    const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
    return {
      utc: at.toISOString(),
      timezone,
      local: `${date}T${part('hour')}:${part('minute')}:${part('second')}${offset}`,
      weekday: part('weekday'),
    };
  },
});
