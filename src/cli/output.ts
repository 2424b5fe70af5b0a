/**
 * What the command line prints: colours and tables for people, JSON for programs. All of it goes through here, as names,
 * titles, errors and outputs are texts of tenants and agents, and a terminal obeys what is in them: it moves the cursor,
 * changes the title, fills the clipboard.
 */
import { randomUUID } from 'node:crypto';
import { styleText } from 'node:util';

/** A failure that the person at the terminal can act on: shown as one line, exit code 1. */
export class CliError extends Error {}

type Style = Parameters<typeof styleText>[0];

const ESCAPE = '\u001b';
/** Stands for the beginning of a colour of ours until it is printed; no text that comes from elsewhere can have it. */
const OURS = randomUUID();

/** Plain where stdout is no terminal, and with NO_COLOR. */
export const paint = (style: Style, text: string): string =>
  styleText(style, printable(text), { stream: process.stdout }).replaceAll(ESCAPE, OURS);

/** As it may be written to a terminal: no control characters but lines, tabs and our own colours. */
export const forTerminal = (text: string): string => printable(text).replaceAll(OURS, ESCAPE);

export const print = (text = ''): void => void process.stdout.write(`${forTerminal(text)}\n`);
/** A part of a line, as it comes. */
export const printPart = (text: string): void => void process.stdout.write(forTerminal(text));
/** Beside the result, which goes to stdout. */
export const printAside = (text: string): void => void process.stderr.write(`${forTerminal(text)}\n`);

/** On a terminal each takes the place of the one before; elsewhere it is a line. */
export function printProgress(text: string, isLast: boolean): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${forTerminal(text)}${isLast ? '\n' : ''}`);
  else printAside(text);
}

/** What an answer is to be written behind. */
export const printQuestion = (text: string): void => void process.stderr.write(forTerminal(text));

/** The same value for programs, and nothing in it that a terminal would obey. @param indent spaces; a line when 0 */
export const printJson = (value: unknown, indent = 2): void =>
  print(
    JSON.stringify(value, null, indent).replaceAll(
      UNPRINTABLE,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );

const STATUS_STYLES: Record<string, Style> = {
  succeeded: 'green',
  run_completed: 'green',
  ok: 'green',
  failed: 'red',
  run_failed: 'red',
  cancelled: 'yellow',
  run_cancelled: 'yellow',
  warning: 'yellow',
  running: 'cyan',
  completed: 'green',
  active: 'cyan',
  review: 'cyan',
  blocked: 'yellow',
  paused: 'yellow',
  stale: 'yellow',
  abandoned: 'red',
  degraded: 'yellow',
  down: 'red',
};
/** Pads before it paints, since colour codes take no room. */
export const paintStatus = (status: string, width = 0): string =>
  paint(STATUS_STYLES[status] ?? 'gray', status.padEnd(width));

export interface Column<Row> {
  title: string;
  value: (row: Row) => string | number | null | undefined;
  align?: 'right';
  paint?: (text: string, row: Row) => string;
}

export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void {
  if (rows.length === 0) {
    print(empty);
    return;
  }
  const texts = rows.map((row) => columns.map(({ value }) => oneLine(String(value(row) ?? '-'))));
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...texts.map((line) => line[i]!.length)));
  const cell = (text: string, i: number) =>
    columns[i]!.align === 'right'
      ? text.padStart(widths[i]!)
      : i === columns.length - 1
        ? text
        : text.padEnd(widths[i]!);
  print(
    paint(
      'bold',
      columns
        .map(({ title }, i) => cell(title, i))
        .join('  ')
        .trimEnd(),
    ),
  );
  texts.forEach((line, r) =>
    print(line.map((text, i) => columns[i]!.paint?.(cell(text, i), rows[r]!) ?? cell(text, i)).join('  ')),
  );
}

/** Control characters, and those that have a text read in another direction than it is written. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** With its lines and tabs, and without what would move the cursor, change colours or show it in another order. */
const printable = (text: string): string => text.replaceAll(UNPRINTABLE, '');

/** The same on one line. */
export const oneLine = (text: string): string => printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' ')).trim();

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** `2026-11-21T12:00:00.000Z` -> `2026-11-21 12:00:00`, UTC. */
export const shortTime = (iso: string | null | undefined): string => iso?.slice(0, 19).replace('T', ' ') ?? '-';
