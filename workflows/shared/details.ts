/** What "User Metadata" in the Temporal Web UI says of a workflow: what it does, and what it waits for since when. */
import { setCurrentDetails } from '@temporalio/workflow';

export interface Wait {
  /** A phrase in Markdown, such as `` `approve` waits for a person ``. */
  what: string;
  /** The time in ISO 8601; now if it is absent. */
  since?: string | undefined;
  /** The commands and signals that end the wait. */
  answers?: readonly string[];
}

/** @returns the time as people read it: `2026-11-27 06:30:12 UTC` */
export const readable = (iso: string = new Date().toISOString()): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/** @param describe says in Markdown how the work stands */
export function createDetails(describe: () => string) {
  const waits = new Map<string, Wait & { since: string }>();
  const render = ({ what, since, answers = [] }: Wait & { since: string }): string =>
    [`- ${what}, since ${readable(since)}`, ...answers.map((answer) => `  - ${answer}`)].join('\n');
  const show = (): void => {
    const list = [...waits.values()].map(render).join('\n');
    // The page cuts off the end of what it shows.
    setCurrentDetails([describe(), ...(list ? [list] : []), '---'].join('\n\n'));
  };
  return {
    /** Has to be called when what `describe` says has changed. */
    show,

    /** Tells of a wait. Another one of the same key is over; the same one goes on. */
    waitFor(key: string, wait: Wait): void {
      const before = waits.get(key);
      const since = wait.since ?? (before?.what === wait.what ? before.since : new Date().toISOString());
      waits.set(key, { ...wait, since });
      show();
    },

    goOn(key: string): void {
      if (waits.delete(key)) show();
    },

    /** Tells that nothing is waited for any more, as the workflow ends. */
    end(): void {
      waits.clear();
      show();
    },
  };
}
