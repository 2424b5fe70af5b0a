/**
 * The one way to Postgres. A transaction's queries find its connection through `AsyncLocalStorage`, so a store never
 * passes a handle on and can never query beside the transaction it is in: on the embedded database, which has a
 * single connection, that would wait for ever.
 *
 * Inside `transaction` make no network call and no Temporal call.
 */
import { SpanKind } from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SQL } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { Problem } from '../core/problem.ts';
import { inSpan, isTraced } from '../observability/spans.ts';
import { APPLICATION_NAME } from './application-name.ts';
import { asAway, isConnectionBroken } from './away.ts';
import { clientWithin, limitSession, PreparingClient, type Deadlines } from './connection.ts';
import { PatientPool, type PoolUse } from './pool.ts';

export { urgently } from './urgency.ts';

export interface Database {
  /** The query builder. Inside a transaction it uses the transaction's connection. */
  readonly orm: NodePgDatabase;
  /** Runs one statement and gives its rows as `pg` reads them: NUMERIC, int8 and times are strings. */
  rows<Row>(statement: SQL): Promise<Row[]>;
  /** Commits when `work` resolves, rolls back when it throws. Nested calls join the outer one. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /**
   * A transaction whose outcome must not be undone by what goes wrong around it.
   * @throws Error inside of another transaction
   */
  outermostTransaction<T>(work: () => Promise<T>): Promise<T>;
  /** How the connections are used at this moment. */
  use(): PoolUse;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** A query waits this long for a connection. */
  patienceMs?: number;
  /**
   * One statement may take this long; work that somebody waits for has a limit of its own. Without it there is no
   * limit.
   */
  deadlines?: Deadlines | undefined;
  onError?: (error: Error) => void;
}

export function createDatabase({
  url,
  poolSize,
  patienceMs = 15_000,
  deadlines,
  onError = () => {},
}: DatabaseOptions): Database {
  const pool = new PatientPool({
    Client: deadlines ? clientWithin(deadlines) : PreparingClient,
    connectionString: url,
    max: poolSize,
    // A query made beside an open transaction on a one-connection database fails with this instead of hanging.
    connectionTimeoutMillis: patienceMs,
    idleTimeoutMillis: poolSize === 1 ? 0 : 30_000,
    keepAlive: true,
    // The system's own is two hours, after which whatever lies between has long forgotten an idle connection.
    keepAliveInitialDelayMillis: 10_000,
    application_name: APPLICATION_NAME,
    ...(deadlines && { onConnect: (client) => limitSession(client, deadlines) }),
  });
  // Without a listener an idle connection that breaks would end the process; the next query connects anew.
  pool.on('error', onError);

  const outside = drizzle(pool as pg.Pool);
  const current = new AsyncLocalStorage<NodePgDatabase>();
  const orm = () => current.getStore() ?? outside;

  async function inTransaction<T>(work: () => Promise<T>): Promise<T> {
    const client = await (pool as pg.Pool).connect();
    let broken: Error | undefined;
    const onBroken = (error: Error) => void (broken ??= error);
    // Without a listener a connection that breaks between two statements would end the process.
    client.on('error', onBroken);
    const tell = (statement: string) =>
      client.query(statement).catch((error: Error) => {
        throw isConnectionBroken(error) ? asAway(error) : error;
      });
    try {
      await tell('begin');
      const result = await current.run(drizzle(client), work);
      await tell('commit');
      return result;
    } catch (error) {
      if (!broken) await tell('rollback').catch(onBroken);
      throw error;
    } finally {
      client.off('error', onBroken);
      // The connection is given back whatever happened: a transaction that cannot even begin must not cost the pool
      // one.
      client.release(broken);
    }
  }

  return {
    get orm() {
      return orm();
    },
    async rows<Row>(statement: SQL) {
      const result = await spanned('query', async () => orm().execute(statement));
      return result.rows as Row[];
    },
    async transaction(work) {
      if (current.getStore()) return work();
      return spanned('transaction', () => inTransaction(work));
    },
    async outermostTransaction(work) {
      if (current.getStore())
        throw new Error('a transaction inside another one would be rolled back with it: run it outside');
      return spanned('transaction', () => inTransaction(work));
    },
    use: () => pool.use,
    close: () => pool.end(),
  };
}

/** The span names no table and no value, since traces may be seen by people who must not see the data. */
const spanned = <T>(operation: string, work: () => Promise<T>): Promise<T> =>
  isTraced()
    ? inSpan(`postgres ${operation}`, { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } }, work)
    : work();

/** @returns the first row @throws Problem `what`, which the caller of an unknown or foreign id is to see */
export function found<T>(row: T | undefined, what = 'not_found'): T {
  if (row === undefined) throw new Problem('not_found', what);
  return row;
}
