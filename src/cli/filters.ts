/** Reads what lists are narrowed down by. */
import { InvalidArgumentError } from 'commander';
import { present } from '../platform/core/present.ts';

const AGO = /^(\d{1,6})\s*(m|h|d|w)$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * @param text a date (2026-11-25, UTC), a time (2026-11-25T08:00Z), or how long ago (30m, 12h, 3d, 2w)
 * @returns ISO 8601
 */
export function parseTime(text: string): string {
  const [, count, unit] = AGO.exec(text) ?? [];
  const at =
    count !== undefined && unit !== undefined
      ? new Date(Date.now() - Number(count) * present(UNIT_MS[unit]))
      : new Date(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) ? `${text}Z` : text);
  if (Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('a date (2026-11-25), a time in UTC, or 30m, 12h, 3d ago');
  return at.toISOString();
}

/** Flags of a list that is narrowed down by time. @param word what happened then, such as `accepted` */
export const TIMES = (word: string) =>
  ({
    from: `--from <time> | ${word} then or later: 2026-11-25, a time, or 3d, 12h, 30m ago`,
    to: `--to <time> | ${word} before`,
  }) as const;

/** @returns the parameters that were given */
export const queryOf = (fields: Record<string, string | undefined>): URLSearchParams =>
  new URLSearchParams(Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined));
