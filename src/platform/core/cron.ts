/**
 * Cron expressions: five fields of numbers, UTC. A restricted day of month and a restricted day of week mean either of
 * them, as cron has always had it; one that begins with a star, also with a step, restricts nothing by itself, and both
 * have to be met.
 */
import { Cron } from 'croner';
import { present } from './present.ts';

const FIELDS = /^[\d*,/-]+(?: [\d*,/-]+){4}$/;
const OPTIONS = { mode: '5-part', timezone: 'UTC', domAndDow: true } as const;

const fieldsOf = (cron: string): string[] => cron.trim().split(/\s+/);

/** @returns what is wrong with it, or undefined */
export function cronProblem(cron: string): string | undefined {
  const normal = fieldsOf(cron).join(' ');
  if (!FIELDS.test(normal)) {
    return 'must be five fields (minute hour day-of-month month day-of-week) of digits, "*", ",", "-" and "/"';
  }
  try {
    return nextRun(normal) ? undefined : 'never comes';
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'is no cron expression';
  }
}

/** @returns when Temporal fires next, computed from the same expressions that it is given; null where that is never */
export function nextRun(cron: string, after = new Date()): Date | null {
  const times = cronUnion(cron).flatMap((each) => new Cron(each, OPTIONS).nextRun(after) ?? []);
  return times.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null;
}

/**
 * @returns the expression as Temporal needs it. Temporal joins the fields of one expression with "and", so an
 * expression that restricts both kinds of day becomes two; and it forgets the Sunday of a range up to 7 (`1-7`), so
 * such a range is written out.
 */
export function cronUnion(cron: string): string[] {
  const [minute, hour, day, month, weekday, more] = fieldsOf(cron);
  if (weekday === undefined || more !== undefined) throw new RangeError('must be five fields');
  const isAny = (field: string): boolean => field.startsWith('*');
  const weekdays = weekday.split(',').map(withSunday).join(',');
  if (isAny(present(day)) || isAny(weekday)) return [[minute, hour, day, month, weekdays].join(' ')];
  return [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekdays}`];
}

/** Takes one part of the field of weekdays and writes a range up to 7 as single days. */
function withSunday(part: string): string {
  const [range = '', step = '1'] = part.split('/');
  const [from = '', to] = range.split('-');
  if (to !== '7' || !(Number(step) > 0)) return part;
  const days = Array.from({ length: 8 }, (_, day) => day).filter(
    (day) => day >= Number(from) && (day - Number(from)) % Number(step) === 0,
  );
  return [...new Set(days.map((day) => day % 7))].join(',');
}
