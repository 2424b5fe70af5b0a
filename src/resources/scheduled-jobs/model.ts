/** Words and rules of scheduled jobs. */
export const JOB_KINDS = ['system', 'agent', 'custom'] as const;

/** The description in a list has at most so many characters. */
export const MAX_DESCRIPTION = 200;

export const customJobId = (n: number): string => `custom-${n}`;
/** @returns the number in `custom-<n>`, undefined for anything else */
export const numberIn = (jobId: string): number | undefined => {
  const [, digits] = /^custom-(\d{1,9})$/.exec(jobId) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/**
 * @returns `every day at 03:00 UTC` for `0 3 * * *`. Jobs that ship are timed in these forms; others stay as they are.
 */
export function readableCron(cron: string): string {
  const [, minute, hour, weekday] = /^(\d+) (\d+|\*) \* \* ([0-6]|\*)$/.exec(cron) ?? [];
  if (minute === undefined) return cron;
  if (hour === '*') return weekday === '*' ? `every hour at minute ${minute}` : cron;
  const time = `${hour!.padStart(2, '0')}:${minute.padStart(2, '0')} UTC`;
  return `every ${weekday === '*' ? 'day' : DAYS[Number(weekday)]} at ${time}`;
}
