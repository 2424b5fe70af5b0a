/** The statements that this process sends to Postgres, and what a plan of one touches: for tests and figures of queries. */
import pg from 'pg';

export interface Statement {
  text: string;
  values: unknown[];
  /** What it gave; empty until it has. */
  rows: unknown[];
}

/** What EXPLAIN (ANALYZE, FORMAT JSON) says of one node. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

interface Explained {
  root: PlanNode;
  /** Pages looked at, in memory or not. */
  blocks: number;
  /** Milliseconds, without planning: statements are prepared. */
  ms: number;
}

/**
 * Statements of `work`, in order; those of what else goes on in this process meanwhile, too.
 * @param isWanted asked where each is sent
 */
export async function recordStatements(
  work: () => Promise<unknown>,
  isWanted: () => boolean = () => true,
): Promise<Statement[]> {
  const recorded: Statement[] = [];
  // Called with its client as `this`, below.
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const send = () => (query as (...args: unknown[]) => Promise<pg.QueryResult> | undefined).apply(this, args);
    const [config, values] = args as [string | { text?: string; values?: unknown[] }, unknown[] | undefined];
    const text = typeof config === 'string' ? config : config.text;
    if (text === undefined || !isWanted()) return send();
    const given = (typeof config === 'object' ? config.values : undefined) ?? values;
    const statement: Statement = { text, values: Array.isArray(given) ? given : [], rows: [] };
    recorded.push(statement);
    const keep = (result: pg.QueryResult | undefined) => (statement.rows = result?.rows ?? []);
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, result?: pg.QueryResult) => {
        keep(result);
        callback(error, result);
      };
      return send();
    }
    const sent = send();
    sent?.then(keep, () => {});
    return sent;
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return recorded;
}

/** Those that look at something: not the frame of a transaction, nor its settings. */
export const isLook = ({ text }: Statement): boolean =>
  /^\s*(select|with|insert|update|delete)\b/i.test(text) && !text.includes('set_config(');

/**
 * Runs it, and takes back what it did.
 * @param settings of the planner, for this statement
 */
export async function explain(
  client: pg.ClientBase,
  { text, values }: Statement,
  settings: readonly string[] = [],
): Promise<Explained> {
  await client.query('begin');
  try {
    for (const setting of settings) await client.query(`set local ${setting}`);
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
    const [{ Plan: root, 'Execution Time': ms }] = rows[0]['QUERY PLAN'] as [
      { Plan: PlanNode; 'Execution Time': number },
    ];
    return { root, ms, blocks: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0) };
  } finally {
    await client.query('rollback');
  }
}

export const nodesOf = (root: PlanNode): PlanNode[] => [root, ...(root.Plans ?? []).flatMap(nodesOf)];

/** Rows of tables that it looked at, also those that a filter then took out. */
export const rowsTouched = (root: PlanNode): number =>
  nodesOf(root)
    .filter((node) => node['Node Type'].endsWith('Scan') && node['Relation Name'] !== undefined)
    .map(
      (node) =>
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
        node['Actual Loops'],
    )
    .reduce((total, rows) => total + rows, 0);
