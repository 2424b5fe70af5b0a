/** Prints a plan, as people read changes: what is made, changed and deleted, and what that affects. */
import type { ManifestPlan } from '../../../client/src/api.ts';
import { fieldLines, fieldsInLine } from '../fields.ts';
import { oneLine, paint, print, shorten } from '../output.ts';

type Change = ManifestPlan['changes'][number];
type Field = Change['fields'][number];

const SIGNS = { create: '+', update: '~', delete: '-' } as const;
const STYLES = { create: 'green', update: 'yellow', delete: 'red' } as const;
const WIDTH = 100;
/** More lines of one text than these are counted, and not shown. */
const MAX_LINES = 12;

export function printPlan(plan: ManifestPlan): void {
  for (const change of plan.changes) {
    const { action, kind, name, file } = change;
    print(`${paint(STYLES[action], `${SIGNS[action]} ${kind} ${oneLine(name)}`)}${file ? `  ${oneLine(file)}` : ''}`);
    for (const field of change.fields) printField(field);
    for (const { path, to } of change.secrets) print(`    secret ${oneLine(path)} goes to ${oneLine(to)}`);
    for (const line of change.affects) print(`    ${paint('cyan', oneLine(line))}`);
  }
  for (const { kind, name, file, made_by_hand: isByHand } of plan.left) {
    const then = isByHand ? 'it was made by hand, and stays' : '--prune deletes it';
    print(`  ${kind} ${oneLine(name)} is in the files no more${file ? ` (${oneLine(file)})` : ''}: ${then}`);
  }
  if (plan.changes.length > 0 || plan.left.length > 0) print();
  print(summaryOf(plan));
}

/** `1 to make, 2 to change, 0 to delete, 12 as they are` */
function summaryOf({ changes, unchanged, taken_over: takenOver }: ManifestPlan): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  const same = `${unchanged} as in the files${takenOver > 0 ? `, of which ${takenOver} will be known to be from them` : ''}`;
  if (changes.length === 0) return `nothing to change: ${same}`;
  return `${count('create')} to make, ${count('update')} to change, ${count('delete')} to delete, ${same}`;
}

function printField({ path, before, after }: Field): void {
  if (isLong(before) || isLong(after)) {
    print(`    ${oneLine(path)}`);
    for (const line of lineDifferences(textOf(before), textOf(after))) print(`      ${line}`);
    return;
  }
  print(`    ${oneLine(path)}: ${shown(before)} -> ${shown(after)}`);
}

const textOf = (value: unknown): string => (value === undefined ? '' : fieldLines(value).join('\n'));
const isLong = (value: unknown): boolean =>
  (typeof value === 'string' && (value.includes('\n') || value.length > WIDTH)) ||
  (value !== undefined && typeof value !== 'string' && JSON.stringify(value).length > WIDTH);
const shown = (value: unknown): string => {
  if (value === undefined) return '(none)';
  return typeof value === 'string' ? oneLine(JSON.stringify(value)) : fieldsInLine(value);
};

/** What two texts have in common at their beginning and end is left out. */
function lineDifferences(before: string, after: string): string[] {
  const [old, now] = [before === '' ? [] : before.split('\n'), after === '' ? [] : after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return [
    ...marked(old.slice(start, old.length - end), '-', 'red'),
    ...marked(now.slice(start, now.length - end), '+', 'green'),
  ];
}

function marked(lines: readonly string[], sign: string, style: 'red' | 'green'): string[] {
  const first = lines.slice(0, MAX_LINES).map((line) => paint(style, `${sign} ${shorten(line, WIDTH)}`));
  return lines.length > MAX_LINES ? [...first, `${sign} ... ${lines.length - MAX_LINES} more lines`] : first;
}
