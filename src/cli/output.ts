/** What the command line prints: colours and tables for people, JSON for programs. */
import { styleText } from 'node:util';

/** A failure that the person at the terminal can act on: shown as one line, exit code 1. */
export class CliError extends Error {}

type Style = Parameters<typeof styleText>[0];

/** Plain where stdout is no terminal, and with NO_COLOR. */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

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
    console.log(empty);
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
  console.log(
    paint(
      'bold',
      columns
        .map(({ title }, i) => cell(title, i))
        .join('  ')
        .trimEnd(),
    ),
  );
  texts.forEach((line, r) =>
    console.log(line.map((text, i) => columns[i]!.paint?.(cell(text, i), rows[r]!) ?? cell(text, i)).join('  ')),
  );
}

/** Also without what would move the cursor or change colours: text of agents and tenants is shown on terminals. */
export const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();

/** The same, but with its lines and tabs. */
export const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, '');

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** `2026-11-21T12:00:00.000Z` -> `2026-11-21 12:00:00`, UTC. */
export const shortTime = (iso: string | null | undefined): string => iso?.slice(0, 19).replace('T', ' ') ?? '-';
