/** Finished runs in bulk, so that reads are measured on a database of some age. */
import pg from 'pg';
import { join } from 'node:path';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { endWithUs } from './processes.ts';

/**
 * Copies one finished run of the product, whole, so many times. By SQL beside the product, hence only while it is
 * stopped: the embedded Postgres has one connection.
 */
export async function fillRuns(dataDir: string, count: number): Promise<void> {
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres') });
  endWithUs(postgres.pid);
  const client = new pg.Client(postgres.url);
  await client.connect();
  try {
    await client.query('begin');
    await client.query(
      `create temporary table copies on commit drop as
        select run.id as run_id, left(run.id, 16) || lpad(to_hex(n), 10, '0') as copy_id
        from (select id from runs where status = 'succeeded' order by seq desc limit 1) run, generate_series(1, $1::int) n`,
      [count],
    );
    await client.query(copying('runs', 'id', 'seq'));
    await client.query(copying('run_events', 'run_id', 'id', `, 'seq', nextval('event_seq')`));
    await client.query(copying('run_messages', 'run_id'));
    await client.query('commit');
  } finally {
    await client.end();
    await postgres.stop();
  }
}

/** Whatever columns there are: only the run's id and the table's own counter differ from the original. */
const copying = (table: string, runColumn: string, counter?: string, more = ''): string => `
  insert into ${table} select copy.* from ${table} t join copies c on c.run_id = t.${runColumn}
  cross join lateral jsonb_populate_record(t, jsonb_build_object('${runColumn}', c.copy_id
    ${counter ? `, '${counter}', nextval(pg_get_serial_sequence('${table}', '${counter}'))` : ''}${more})) copy
  order by c.copy_id`;
