/**
 * Finds statements that answer with what was before: they write rows of a table, may have to wait for somebody who does the
 * same, and beside that read the table itself. A statement sees what was committed when it began, so what it waited for it
 * changes no more and yet does not see. What it writes it has from `returning`; what somebody else has written, a second
 * statement sees. It is decided on the parsed text.
 */
import { parseSync } from 'libpg-query';
import { first } from '../../../src/platform/core/present.ts';

/** A statement that writes, as it was sent. */
export interface Writing {
  /** `src/x/store.ts:12:8`, where it is sent. */
  place: string;
  text: string;
}

const LOCKED = 'an earlier statement of the transaction has locked the project, so nobody else writes what is its own';

/** Whose answer may be what was before, and why. A table is named as it is in the statement, or for all its names. */
const ALLOWED: readonly { file: string; tables: readonly string[]; why: string }[] = [
  {
    file: 'src/platform/db/in-turn.ts',
    tables: ['runs', 'projects', 'webhook_deliveries', 'output_deliveries', 'workspace_exports'],
    why: 'what was taken is known from what was written; the rest says only where the next turn begins',
  },
  {
    file: 'src/resources/deploy-tokens/store.ts',
    tables: ['deploy_tokens'],
    why: 'the answer is whether the token was good when it was shown; what is written is when that was',
  },
  {
    file: 'src/resources/projects/backtracking/backtrack.ts',
    tables: ['subtasks'],
    why: LOCKED,
  },
  {
    file: 'src/resources/projects/store/create.ts',
    tables: ['tasks', 'budgets'],
    why: 'the rows are of a project that this statement makes, and nobody else knows it yet',
  },
  {
    file: 'src/resources/projects/engine/settle.ts',
    tables: ['artifacts', 'attempts', 'subtasks', 'tasks'],
    why: LOCKED,
  },
  {
    file: 'src/resources/runs/store/budgets.ts',
    tables: ['cost_reservations'],
    why: 'where a budget is said to be short, a second statement looks again',
  },
  {
    file: 'src/resources/runs/store/turns.ts',
    tables: ['runs later', 'runs earlier'],
    why: 'the next run of a conversation is another row, and one that is missed looks for its turn by itself',
  },
  {
    file: 'src/resources/webhook-subscriptions/store/outbox.ts',
    tables: ['webhook_deliveries'],
    why: 'deliveries that are missed were made by somebody who sends them, or else housekeeping does',
  },
];

// The tree is Postgres' own, as JSON: a node is an object with one key, which is its kind.
/* eslint-disable @typescript-eslint/no-explicit-any */
type Node = any;

/** @returns tables that a statement writes and that its answer is read from, too; each with its other name, if it has one */
export function staleReads(text: string): string[] {
  const { stmts } = parseSync(text) as { stmts: { stmt: Node }[] };
  return stmts.flatMap(({ stmt }) => {
    const { kind, statement } = partOf(stmt);
    const { withClause, ...rest } = statement;
    const common = new Map<string, Node>(
      (withClause?.ctes ?? []).map(({ CommonTableExpr: { ctename, ctequery } }: Node) => [ctename, ctequery]),
    );
    const written = new Set([...common.values(), stmt].flatMap(tableWritten));
    const read = new Map<string, string>();
    readFrom(kind === 'SelectStmt' ? rest : statement.returningClause, common, read);
    return [...read].filter(([, table]) => written.has(table)).map(([name]) => name);
  });
}

function partOf(node: Node): { kind: string; statement: Node } {
  const [kind, statement] = first(Object.entries<Node>(node));
  return { kind, statement };
}

function tableWritten(node: Node): string[] {
  const { kind, statement } = partOf(node);
  return ['InsertStmt', 'UpdateStmt', 'DeleteStmt'].includes(kind) ? [statement.relation.relname] : [];
}

/**
 * Adds the tables that are read, also by queries of the statement that are named, but for rows that are locked or written.
 * @param read tables by their names in the statement
 */
function readFrom(node: Node, common: ReadonlyMap<string, Node>, read: Map<string, string>): void {
  if (node === null || typeof node !== 'object') return;
  if (node.RangeVar) {
    const { relname, alias } = node.RangeVar;
    const name: string = alias ? `${relname} ${alias.aliasname}` : relname;
    if (read.has(name)) return;
    read.set(name, relname);
    const select = common.get(relname)?.SelectStmt;
    if (select && !select.lockingClause) readFrom(select, common, read);
  }
  for (const child of Object.values(node)) readFrom(child, common, read);
}

/**
 * @param all the suite has run whole, so that an exception that nothing needs is a fault, too
 * @returns one line for each fault
 */
export function checkWritings(writings: readonly Writing[], { all = false } = {}): string[] {
  const unused = new Set(ALLOWED.flatMap(({ file, tables }) => tables.map((table) => `${file}: ${table}`)));
  const faults = new Set<string>();
  for (const { place, text } of writings) {
    const file = place.replace(/:\d+:\d+$/, '');
    for (const name of staleReads(text)) {
      const [table = name] = name.split(' ');
      const allowed = [name, table].find((each) =>
        ALLOWED.some(({ file: of, tables }) => of === file && tables.includes(each)),
      );
      if (allowed) unused.delete(`${file}: ${allowed}`);
      else faults.add(`${place}: it writes ${table} and answers from it (${name}) as it was before: ask a second time`);
    }
  }
  if (all) for (const each of unused) faults.add(`${each} may be read as it was before, and is not`);
  return [...faults];
}
