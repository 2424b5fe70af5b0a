/**
 * Cron expressions: five fields of numbers, UTC. A restricted day of month and a restricted day of week mean either of
 * them, as cron has always had it.
 */
import { Cron } from 'croner';

const FIELDS = /^[\d*,/-]+(?: [\d*,/-]+){4}$/;
const OPTIONS = { mode: '5-part', timezone: 'UTC', legacyMode: true } as const;

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

export const nextRun = (cron: string, after = new Date()): Date | null =>
  new Cron(fieldsOf(cron).join(' '), OPTIONS).nextRun(after);

/**
 * The same times for Temporal, which joins the fields of one expression with "and": where both days are restricted, two
 * expressions.
 */
export function cronUnion(cron: string): string[] {
  const [minute, hour, day, month, weekday] = fieldsOf(cron);
  const isAny = (field: string): boolean => field.startsWith('*');
  if (isAny(day!) || isAny(weekday!)) return [fieldsOf(cron).join(' ')];
  return [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekday}`];
}
