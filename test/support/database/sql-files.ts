/**
 * What the database does by itself, as the `sql` folders say it: `src/resources/<name>/sql/*.sql` and `src/platform/db/sql/*.sql`. Each
 * function, view, tally and trigger stands there once, in its current form, under a comment that says why. Migrations are made from these
 * files (`sql-migration.ts`), and `test/platform/db/drift.test.ts` compares them with a migrated database.
 */
import { loadModule, parseSync } from 'libpg-query';
import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { present } from '../../../src/platform/core/present.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FILES = ['src/platform/db/sql/*.sql', 'src/resources/*/sql/*.sql'];

/** In the order in which they can be made. A tally is a call of `keep_tally`, which makes functions, triggers and a view. */
const KINDS = ['function', 'view', 'tally', 'trigger'] as const;
export type PieceKind = (typeof KINDS)[number];

export interface Piece {
  kind: PieceKind;
  name: string;
  /** The table of a trigger. */
  table?: string;
  /** The lines above the statement. */
  comment: string;
  /** The statement, with its semicolon. */
  text: string;
  /** From the root of the repository. */
  file: string;
}

interface Parsed {
  stmts: { stmt: Record<string, Node>; stmt_location?: number; stmt_len?: number }[];
}
interface Node {
  funcname?: { String: { sval: string } }[];
  trigname?: string;
  relation?: { relname: string };
  view?: { relname: string };
}

/** @throws if a file has another kind of statement */
export async function readPieces(): Promise<Piece[]> {
  await loadModule();
  const pieces: Piece[] = [];
  for await (const file of glob(FILES, { cwd: ROOT })) {
    pieces.push(...piecesIn(file, await readFile(`${ROOT}/${file}`, 'utf8')));
  }
  return pieces.sort(
    (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.file < b.file ? -1 : a.file > b.file ? 1 : 0),
  );
}

export function piecesIn(file: string, source: string): Piece[] {
  const bytes = Buffer.from(source);
  const { stmts } = parseSync(source) as Parsed;
  let end = 0;
  return stmts.map(({ stmt, stmt_location: from = 0, stmt_len: length }) => {
    // The comment stands between the semicolon before and the first word.
    const next = length === undefined ? bytes.length : from + length;
    const whole = bytes.subarray(end, next).toString().trim();
    end = next + 1;
    const lines = whole.split('\n');
    const first = lines.findIndex((line) => !line.startsWith('--'));
    const comment = lines.slice(0, first).map((line) => line.replace(/^-- ?/, ''));
    const text = `${lines.slice(first).join('\n').replace(/;$/, '')};`;
    return { ...kindOf(stmt, text, file), comment: comment.join(' ').trim(), text, file };
  });
}

function kindOf(stmt: Record<string, Node>, text: string, file: string): Pick<Piece, 'kind' | 'name' | 'table'> {
  const [[type, node] = []] = Object.entries(stmt);
  if (type === 'CreateFunctionStmt') return { kind: 'function', name: present(node?.funcname?.at(-1)).String.sval };
  if (type === 'ViewStmt') return { kind: 'view', name: present(node?.view).relname };
  if (type === 'CreateTrigStmt') {
    return { kind: 'trigger', name: present(node?.trigname), table: present(node?.relation).relname };
  }
  const [, list] = /^SELECT keep_tally\(\s*'(\w+)'/i.exec(text) ?? [];
  if (list === undefined) throw new Error(`${file} may hold functions, views, tallies and triggers only: ${text}`);
  return { kind: 'tally', name: list };
}

/** By what each is: `function f(text)`, `view v`, `trigger t on runs`. */
export type Definitions = Map<string, string>;

/** What extensions brought is not ours. @param only a condition on the catalogue's row `made` */
async function definitionsWhere(client: pg.Client, only: string): Promise<Definitions> {
  const { rows } = await client.query<{ key: string; definition: string }>(`
    select 'function ' || made.oid::regprocedure as key, pg_get_functiondef(made.oid) as definition from pg_proc made
      where made.pronamespace = 'public'::regnamespace and ${only}
        and not exists (select from pg_depend d where d.objid = made.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e')
    union all
    select 'trigger ' || made.tgname || ' on ' || made.tgrelid::regclass, pg_get_triggerdef(made.oid) from pg_trigger made
      where not made.tgisinternal and ${only}
    union all
    select 'view ' || made.ev_class::regclass, pg_get_viewdef(made.ev_class) from pg_rewrite made
      join pg_class c on c.oid = made.ev_class and c.relkind = 'v' and c.relnamespace = 'public'::regnamespace
      where ${only}
    order by 1`);
  return new Map(rows.map(({ key, definition }) => [key, definition]));
}

/** What a database has. */
export const definitionsIn = (client: pg.Client): Promise<Definitions> => definitionsWhere(client, 'true');

/** What the pieces make, in the same words as the database has it: they are made there, and it is rolled back. */
export async function definitionsOf(client: pg.Client, pieces: readonly Piece[]): Promise<Definitions> {
  await client.query('begin');
  try {
    for (const key of (await definitionsIn(client)).keys()) {
      if (key.startsWith('trigger ')) await client.query(`drop ${key}`);
    }
    // A function may come before one that it calls.
    await client.query('set local check_function_bodies = off');
    for (const { text } of pieces) await client.query(text);
    // A row of the catalogue that this transaction wrote.
    return await definitionsWhere(client, 'made.xmin = pg_current_xact_id()::xid');
  } finally {
    await client.query('rollback');
  }
}

/** @returns the piece that makes it */
const makerOf = (key: string, pieces: readonly Piece[]): Piece | undefined => {
  const [, kind, name = ''] = /^(\w+) (\w+)/.exec(key) ?? [];
  const [, list] = /^(?:tally_(\w+)_(?:added|removed|changed)|counted_(\w+))$/.exec(name)?.filter(Boolean) ?? [];
  return (
    pieces.find((piece) => piece.kind === 'tally' && piece.name === list) ??
    pieces.find((piece) => piece.kind === kind && piece.name === name)
  );
};

/** @returns the statements that bring a database to what the pieces make */
export function statementsBetween(there: Definitions, wanted: Definitions, pieces: readonly Piece[]): string[] {
  const changed = [...wanted].filter(([key, definition]) => there.get(key) !== definition).map(([key]) => key);
  const makers = new Set(changed.map((key) => present(makerOf(key, pieces), `what makes ${key}`)));
  const gone = [...there.keys()].filter((key) => !wanted.has(key));
  // Triggers go before the functions that they call.
  const order = ['trigger', 'view', 'function'];
  gone.sort((a, b) => order.indexOf(present(a.split(' ')[0])) - order.indexOf(present(b.split(' ')[0])));
  return [
    ...gone.map((key) => `DROP ${key};`),
    ...(makers.size > 0 ? ['SET LOCAL check_function_bodies = off;'] : []),
    ...pieces.flatMap((piece) => {
      const isMade =
        makers.has(piece) ||
        // All functions of one name, since it is the name that was looked up.
        (piece.kind === 'function' && [...makers].some(({ kind, name }) => kind === 'function' && name === piece.name));
      if (!isMade) return [];
      const { kind, name, table, text } = piece;
      return kind === 'trigger' && there.has(`trigger ${name} on ${table}`)
        ? [`DROP TRIGGER ${name} ON ${table};`, text]
        : [text];
    }),
  ];
}
