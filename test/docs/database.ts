/** `docs/database.md`: what the database does by itself, made of the `sql` folders. `npm run docs:database` writes it. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { readPieces, type Piece, type PieceKind } from '../support/database/sql-files.ts';

const PAGE = fileURLToPath(new URL('../../docs/database.md', import.meta.url));

const INTRODUCTION = `# What the database does by itself

This page lists the functions, views, tallies and triggers of the database: what happens beside the statements of the service, and why a trigger
does it. Look here when a row changes and no TypeScript writes it. \`npm run docs:database\` makes the page of the comments in
\`src/resources/<name>/sql/*.sql\` and \`src/platform/db/sql/*.sql\`. Back to [the README](../README.md).

**To change one**: edit its file, run \`npm run migration:sql -- what_it_does\`, and read the migration that it makes.
\`test/platform/db/drift.test.ts\` fails while the files and the migrations differ. Prefer a rule in the statement that writes; make a trigger
only where several statements must not forget it, and say which in its comment.

A **tally** keeps the count of a list: \`keep_tally\` makes a trigger for each of insert, update and delete, and the view \`counted_<list>\`.
`;

const HEADINGS: Readonly<Record<PieceKind, [title: string, column: string]>> = {
  trigger: ['Triggers', 'Trigger'],
  tally: ['Tallies', 'List'],
  function: ['Functions', 'Function'],
  view: ['Views', 'View'],
};

export async function databasePage(): Promise<{ current: string; wanted: string }> {
  const byOwner = Map.groupBy(await readPieces(), ownerOf);
  const sections = [...byOwner].sort(([a], [b]) => (a < b ? -1 : 1)).map(([owner, pieces]) => section(owner, pieces));
  return {
    current: await readFile(PAGE, 'utf8').catch(() => ''),
    wanted: await format([INTRODUCTION, ...sections].join('\n'), { parser: 'markdown', printWidth: 120 }),
  };
}

const ownerOf = ({ file }: Piece): string => /resources\/([\w-]+)\//.exec(file)?.[1] ?? 'platform';

function section(owner: string, pieces: readonly Piece[]): string {
  const kinds = (Object.keys(HEADINGS) as PieceKind[]).filter((kind) => pieces.some((piece) => piece.kind === kind));
  return [`## ${owner}\n`, ...kinds.map((kind) => table(kind, pieces))].join('\n');
}

function table(kind: PieceKind, pieces: readonly Piece[]): string {
  const [title, column] = HEADINGS[kind];
  const rows = pieces
    .filter((piece) => piece.kind === kind)
    .map((piece) => [`[${labelOf(piece)}](../${piece.file})`, ...whenOf(piece), piece.comment].map(escape));
  const header = kind === 'trigger' ? [column, 'When', 'Why'] : [column, 'What it does'];
  return [
    `**${title}**\n`,
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |\n`.trimEnd()),
    '',
  ].join('\n');
}

/** A function with its arguments, since several can have one name. */
function labelOf({ kind, name, text }: Piece): string {
  if (kind !== 'function') return `\`${name}\``;
  const [, args = ''] = /^[^(]*\(([^)]*)\)/.exec(text) ?? [];
  return `\`${name}(${args.replace(/\s+/g, ' ').trim()})\``;
}

/** @returns of a trigger, when it fires: `after update of status on runs` */
function whenOf({ kind, name, text }: Piece): string[] {
  if (kind !== 'trigger') return [];
  const [, when = ''] =
    new RegExp(`TRIGGER ${name}\\s+([^]*?)\\s+(?:DEFERRABLE|REFERENCING|FOR EACH)`).exec(text) ?? [];
  return [when.replace(/\s+/g, ' ').replace(/\b[A-Z]+\b/g, (word) => word.toLowerCase())];
}

const escape = (text: string): string => text.replaceAll('|', '\\|');

if (import.meta.main) await writeFile(PAGE, (await databasePage()).wanted);
