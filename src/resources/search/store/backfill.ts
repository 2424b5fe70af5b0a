/** Makes the documents of what was there before it could be searched: for housekeeping, in short transactions, the newest first. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

const BATCH = 200;
const MAX_BATCHES = 40;

interface Source {
  key: 'text' | 'uuid' | 'bigint';
  /** `insert` of the documents of the relation `batch`. */
  write: SQL;
  /** Only these of its rows have a document. */
  only?: SQL;
}

const documents = (kind: string, at: string, words: string, more = ''): SQL =>
  sql.raw(`insert into search_documents (kind, subject, customer_id, at, words)
    select '${kind}', batch.id::text, batch.customer_id, batch.${at}, ${words} from batch ${more} on conflict do nothing`);
const whole = (kind: string, table: string): SQL =>
  documents(kind, 'created_at', 'search_words_of(t)', `join ${table} t on t.id = batch.id`);

const SOURCES: Readonly<Record<string, Source>> = {
  runs: { key: 'text', write: whole('run', 'runs') },
  projects: { key: 'text', write: whole('project', 'projects') },
  artifacts: { key: 'uuid', write: whole('artifact', 'artifacts') },
  run_artifacts: { key: 'uuid', write: whole('file', 'run_artifacts') },
  attachments: { key: 'uuid', write: whole('file', 'attachments'), only: sql`r.owner_kind <> 'upload'` },
  project_events: {
    key: 'bigint',
    write: documents(
      'event',
      'ts',
      'search_words_of_event(batch.customer_id, batch.topic, batch.payload)',
      `where text_of_event(batch.payload) <> ''`,
    ),
  },
  run_events: {
    key: 'bigint',
    write: sql.raw(`insert into search_documents (kind, subject, customer_id, at, words)
      select 'event', 'log-r' || e.id, e.customer_id, e.ts, search_words_of(e)
      from batch join run_events e on e.id = batch.id on conflict do nothing`),
    only: sql`r.status in ('failed', 'aborted') and r.event_type in ('tool_result', 'claude_request')`,
  },
};

/** How many kinds of things are yet to be done; it is not late, however long it takes. */
export const SEARCH_BEHIND = {
  fillSearch: sql`(
    select count(*)::int as due, 0::float8 as "overdueS" from search_backfills)`,
};

/**
 * Those that get a document are locked, so that none is deleted between the look at it and its document. Of two processes one finds the turn taken, and
 * nothing to do.
 */
const takeBatch = (name: string, { key, write, only = sql`true` }: Source): SQL => {
  const table = sql.identifier(name);
  const type = sql.raw(key);
  return sql`
    with turn as materialized (
      select up_to from search_backfills where source = ${name} for update skip locked
    ), looked_at as materialized (
      select r.id from ${table} r where r.id <= (select up_to::${type} from turn) order by r.id desc limit ${BATCH} + 1
    ), batch as materialized (
      select r.* from ${table} r where r.id in (select id from looked_at) and ${only} order by r.id desc for key share
    ), written as (${write}), moved as (
      update search_backfills set up_to = (select id::text from looked_at order by id limit 1)
      where source = ${name} and (select count(*) from looked_at) > ${BATCH}
    ), done as (
      delete from search_backfills
      where source = ${name} and exists (select from turn) and (select count(*) from looked_at) <= ${BATCH}
    )
    select count(*)::int as rows from looked_at`;
};

/** @returns how many rows were looked at */
export async function fillSearch(db: Database, signal?: AbortSignal): Promise<number> {
  const left = await db.rows<{ source: string }>(sql`select source from search_backfills order by source`);
  let looked = 0;
  for (const { source } of left) {
    const from = SOURCES[source];
    if (!from) continue;
    for (let batch = 0, rows = BATCH + 1; batch < MAX_BATCHES && rows > BATCH && !signal?.aborted; batch++) {
      const [taken] = await db.rows<{ rows: number }>(takeBatch(source, from));
      rows = taken?.rows ?? 0;
      looked += rows;
    }
  }
  return looked;
}
