/**
 * The one way to Postgres. A transaction's queries find its connection through `AsyncLocalStorage`, so a store never
 * passes a handle on and can never query beside the transaction it is in: on the embedded database, which has a
 * single connection, that would wait for ever.
 *
 * Inside `transaction` make no network call and no Temporal call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { SQL } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { Problem } from '../core/problem.ts';

export interface Database {
  /** Query builder; of the current transaction where there is one. */
  readonly orm: NodePgDatabase;
  /** Runs one statement and gives its rows, as `pg` reads them (NUMERIC and int8 as strings, times as Date). */
  rows<Row>(statement: SQL): Promise<Row[]>;
  /** Commits when `work` resolves, rolls back when it throws. Nested calls join the outer one. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** How long a query waits for a connection. */
  patienceMs?: number;
  onError?: (error: Error) => void;
}

export function createDatabase({ url, poolSize, patienceMs = 15_000, onError = () => {} }: DatabaseOptions): Database {
  const pool = new PatientPool({
    Client: PreparingClient,
    connectionString: url,
    max: poolSize,
    // A query made beside an open transaction on a one-connection database fails with this instead of hanging.
    connectionTimeoutMillis: patienceMs,
    idleTimeoutMillis: poolSize === 1 ? 0 : 30_000,
    keepAlive: true,
    application_name: 'agent-orchestration-service',
  });
  // Without a listener an idle connection that breaks would end the process; the next query connects anew.
  pool.on('error', onError);

  const outside = drizzle(pool);
  const current = new AsyncLocalStorage<NodePgDatabase>();
  const orm = () => current.getStore() ?? outside;

  return {
    get orm() {
      return orm();
    },
    async rows<Row>(statement: SQL) {
      const result = await orm().execute(statement);
      return result.rows as Row[];
    },
    async transaction(work) {
      if (current.getStore()) return work();
      return outside.transaction((tx) => current.run(tx as unknown as NodePgDatabase, work));
    },
    close: () => pool.end(),
  };
}

const urgent = new AsyncLocalStorage<true>();

/**
 * Work that somebody waits for: its queries get the next free connection, before those of the pipelines that run by
 * themselves. With many of those and one connection, a request would wait for all of them again with each query.
 */
export const urgently = <T>(work: () => T): T => urgent.run(true, work);

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** Urgent ones that may go before one that is not. */
const MAX_IN_A_ROW = 3;

/** Lets as many in as there are connections, whoever is urgent first; the pool behind it never has a queue. */
class PatientPool extends pg.Pool {
  #free: number;
  readonly #waiting: { urgent: (() => void)[]; other: (() => void)[] } = { urgent: [], other: [] };
  readonly #patienceMs: number;
  #urgentInARow = 0;

  constructor(config: pg.PoolConfig & { max: number; connectionTimeoutMillis: number }) {
    super(config);
    this.#free = config.max;
    this.#patienceMs = config.connectionTimeoutMillis;
    this.on('release', () => this.#leave());
  }

  // The declared overloads are those of the base class: a promise, or a callback, which is what `query` uses.
  override connect(...args: unknown[]): never {
    const [callback] = args as [Connected?];
    const connected = this.#enter().then(() =>
      super.connect().catch((error: unknown) => {
        this.#leave();
        throw error;
      }),
    );
    if (!callback) return connected as never;
    connected.then(
      (client) => callback(undefined, client, (error) => client.release(error as Error)),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined as never;
  }

  #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    const queue = this.#waiting[urgent.getStore() ? 'urgent' : 'other'];
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(enter), 1);
        reject(new Error('timeout exceeded when trying to connect'));
      }, this.#patienceMs);
      queue.push(enter);
    });
  }

  #leave(): void {
    const { urgent, other } = this.#waiting;
    // Those who only ask how far it is must not keep it from going on.
    const isOthersTurn = urgent.length === 0 || (this.#urgentInARow >= MAX_IN_A_ROW && other.length > 0);
    this.#urgentInARow = isOthersTurn ? 0 : this.#urgentInARow + 1;
    const next = (isOthersTurn ? other : urgent).shift();
    if (next) next();
    else this.#free += 1;
  }
}

/** Different texts that are prepared; beyond it (a list in a text, say) statements go unnamed. */
const MAX_PREPARED = 500;
const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  const name = createHash('sha1').update(text).digest('base64url');
  names.set(text, name);
  return name;
}

/**
 * Prepares every statement under a name made of its text, so that a connection parses and plans it once. Planning is
 * most of what a short statement costs: a third of the database's time was left on the embedded one.
 */
class PreparingClient extends pg.Client {
  // The declared overloads are those of the base class; whatever form a call has, only its config is looked at.
  override query(...args: unknown[]): never {
    const [config] = args;
    if (isStatement(config)) args[0] = { ...config, name: nameOf(config.text) };
    return (super.query as (...args: unknown[]) => never)(...args);
  }
}

const isStatement = (config: unknown): config is { text: string } =>
  typeof config === 'object' && config !== null && 'text' in config && !('name' in config && config.name);

/** The first row, or the problem that a caller of an unknown or foreign id is to see. */
export function found<T>(row: T | undefined, what = 'not_found'): T {
  if (row === undefined) throw new Problem('not_found', what);
  return row;
}
