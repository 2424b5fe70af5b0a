/**
 * Prints what the command line has to say: colours and tables for people, JSON for programs. All output goes through
 * here, because names, titles, errors and results are texts of tenants and agents, and a terminal obeys control
 * characters in them: they move the cursor, change its title or fill the clipboard.
 */
import { randomUUID } from 'node:crypto';
import { styleText } from 'node:util';

/** A failure that the person at the terminal can act on. It is shown as one line. */
export class CliError extends Error {
  /** 2 if the command was called with an argument that names nothing. */
  readonly exitCode: 1 | 2;
  /** The same for programs, which get it where they asked for JSON. */
  readonly forPrograms: object | undefined;

  constructor(message: string, exitCode: 1 | 2 = 1, forPrograms?: object) {
    super(message);
    this.exitCode = exitCode;
    this.forPrograms = forPrograms;
  }
}

type Style = Parameters<typeof styleText>[0];

const ESCAPE = '\u001b';
/** Stands for the beginning of our own colours until they are printed. No text from elsewhere can contain it. */
const OURS = randomUUID();

/** Colours a text, except where stdout is no terminal or NO_COLOR is set. */
export const paint = (style: Style, text: string): string =>
  styleText(style, printable(text), { stream: process.stdout }).replaceAll(ESCAPE, OURS);

/**
 * @returns the text as it may be written to a terminal: no control characters but line breaks, tabs and our own colours
 */
export const forTerminal = (text: string): string => printable(text).replaceAll(OURS, ESCAPE);

export const print = (text = ''): void => void process.stdout.write(`${forTerminal(text)}\n`);
/** Prints a part of a line as it comes. */
export const printPart = (text: string): void => void process.stdout.write(forTerminal(text));
/** Takes the place of all that a terminal shows. */
export const clearScreen = (): void => void process.stdout.write(`${ESCAPE}[2J${ESCAPE}[H`);
/** Prints beside the result, on stderr, because the result goes to stdout. */
export const printAside = (text: string): void => void process.stderr.write(`${forTerminal(text)}\n`);

/** Prints progress. On a terminal it takes the place of the line before; elsewhere it is a line of its own. */
export function printProgress(text: string, isLast: boolean): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${forTerminal(text)}${isLast ? '\n' : ''}`);
  else printAside(text);
}

/** Prints a question, behind which the answer is typed. */
export const printQuestion = (text: string): void => void process.stderr.write(forTerminal(text));

/**
 * Prints the same value for programs, without anything that a terminal would obey.
 * @param indent is a number of spaces; 0 gives one line
 */
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
/** Pads before it colours, because colour codes take no room on the screen. */
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

/** Control characters, and characters that make a text read in another direction than it is written. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * @returns the text with its lines and tabs, but without characters that move the cursor, change colours or reorder the
 * text
 */
const printable = (text: string): string => text.replaceAll(UNPRINTABLE, '');

/** @returns the same text on one line */
export const oneLine = (text: string): string => printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' ')).trim();

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Turns `2026-11-21T12:00:00.000Z` into `2026-11-21 12:00:00`, in UTC. */
export const shortTime = (iso: string | null | undefined): string => iso?.slice(0, 19).replace('T', ' ') ?? '-';
