/**
 * The files that take long and their times, which the sequencer reads. `npm test -- --write-times` writes them: a line for each
 * file, its seconds and its path, the longest first. A file with `-` for its seconds keeps its place until a run measures it.
 */
import { readFileSync, writeFileSync } from 'node:fs';

export interface TimedFile {
  path: string;
  /** Undefined if no run has measured it yet. */
  seconds: number | undefined;
}

type Measured = TimedFile & { seconds: number };

const LIST = new URL('long.txt', import.meta.url);
/** Shorter files are not worth a line. */
const LONG_SECONDS = 5;

/** @returns the longest first */
export const longFiles = (): TimedFile[] => parse(readFileSync(LIST, 'utf8'));

/**
 * @param measured files of this run, each with its path and seconds
 * @param isWhole all files ran, so a file that was not measured is gone
 */
export function writeLongFiles(measured: readonly Measured[], { isWhole }: { isWhole: boolean }): void {
  writeFileSync(LIST, format(merge(longFiles(), measured, { isWhole })));
}

const parse = (text: string): TimedFile[] =>
  text.split('\n').flatMap((line) => {
    const [, seconds, path] = /^ *(\d+|-) (.+)$/.exec(line) ?? [];
    return path === undefined ? [] : [{ path, seconds: seconds === '-' ? undefined : Number(seconds) }];
  });

export const format = (files: readonly TimedFile[]): string =>
  files.map(({ seconds, path }) => `${(seconds?.toFixed(0) ?? '-').padStart(4)} ${path}\n`).join('');

/** @returns the list as it is after a run: what ran has its new time, the rest of a partial run stays */
export function merge(
  before: readonly TimedFile[],
  measured: readonly Measured[],
  { isWhole }: { isWhole: boolean },
): TimedFile[] {
  const ran = new Set(measured.map(({ path }) => path));
  const rest = isWhole ? [] : before.filter(({ path }) => !ran.has(path));
  const timed = [...rest, ...measured.filter(({ seconds }) => seconds >= LONG_SECONDS)].flatMap((file) =>
    file.seconds === undefined ? [] : [{ ...file, seconds: file.seconds }],
  );
  const merged: TimedFile[] = timed.sort((a, b) => b.seconds - a.seconds);
  // An unmeasured file stays behind the one that it followed.
  for (const [at, file] of before.entries()) {
    if (file.seconds !== undefined || !rest.includes(file)) continue;
    const previous = merged.findIndex(({ path }) => path === before[at - 1]?.path);
    merged.splice(previous + 1, 0, file);
  }
  return merged;
}
