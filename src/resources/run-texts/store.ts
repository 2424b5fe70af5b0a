/** Statements on texts that are being written, and on who watches them. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import { RECORDED_RUNS } from '../runs/store/fragments.ts';
import { LINGER_MS, WATCH_MS } from './model.ts';

export type RunTextStore = ReturnType<typeof createRunTextStore>;

/** A text as far as it has come. */
export interface RunText {
  runId: string;
  customerId: string;
  projectId: string | null;
  turn: number;
  attempt: number;
  text: string;
}

/** The state in which a reader has a text. */
export interface KnownText {
  runId: string;
  turn: number;
  attempt: number;
  length: number;
}

export interface Watch {
  customerId: string;
  watched: string;
}

const IS_WATCH_OVER = sql`until < now() - interval '1 minute'`;
const IS_TEXT_OVER = sql`written_at < now() - interval '1 minute'`;

/** Both tables are as large as what is watched at this moment. */
export const TEXTS_BEHIND = {
  sweepTexts: sql`(
    select count(*)::int as due,
      coalesce(extract(epoch from now() - interval '1 minute' - min(since)), 0)::float8 as "overdueS"
    from (
      select until as since from text_watches where ${IS_WATCH_OVER}
      union all select written_at from run_texts where ${IS_TEXT_OVER}
    ) over)`,
};

export const createRunTextStore = (db: Database) => ({
  /** Notes that somebody watches these; a watch that is renewed goes on. */
  async renewWatches(watches: readonly Watch[]): Promise<void> {
    const customerIds = sql.param(watches.map(({ customerId }) => customerId));
    const watched = sql.param(watches.map((watch) => watch.watched));
    await db.rows(sql`
      insert into text_watches (customer_id, watched, until)
      select w.customer_id, w.watched, now() + ${WATCH_MS} * interval '1 ms'
      from unnest(${customerIds}::text[], ${watched}::text[]) as w(customer_id, watched)
      order by 1, 2
      on conflict (customer_id, watched) do update set until = excluded.until`);
  },

  /** Deletes watches that nobody renewed, and texts whose call died with its process. */
  async sweep(): Promise<void> {
    await db.rows(sql`
      with over as (delete from text_watches where ${IS_WATCH_OVER})
      delete from run_texts where ${IS_TEXT_OVER}`);
  },

  /** @returns those of these that somebody watches */
  async filterWatched(watches: readonly Watch[]): Promise<Watch[]> {
    return db.rows<Watch>(sql`
      select w.customer_id as "customerId", w.watched
      from jsonb_to_recordset(${JSON.stringify(watches)}::jsonb) as a("customerId" text, watched text)
      join text_watches w on w.customer_id = a."customerId" and w.watched = a.watched and w.until > now()`);
  },

  /** Writes texts in the place of earlier ones of the same runs. A run that is gone has no text either. */
  async write(texts: readonly RunText[]): Promise<void> {
    const rows = texts.map((text) => ({ ...text, length: text.text.length }));
    await db.rows(sql`
      insert into run_texts as t (run_id, customer_id, project_id, turn, attempt, length, text)
      select r.id, r.customer_id, n."projectId", n.turn, n.attempt, n.length, n.text
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as n("runId" text, "customerId" text, "projectId" text, turn int, attempt int, length int, text text)
      join ${RECORDED_RUNS} r on r.id = n."runId" and r.customer_id = n."customerId"
      order by r.id
      on conflict (run_id) do update set
        turn = excluded.turn, attempt = excluded.attempt, length = excluded.length, text = excluded.text, written_at = now()
      where (t.turn, t.attempt, t.length) < (excluded.turn, excluded.attempt, excluded.length)`);
  },

  /** Drops texts of calls that are over, unless another call of the same run has begun. */
  async drop(texts: readonly Pick<RunText, 'runId' | 'turn' | 'attempt'>[]): Promise<void> {
    await db.rows(sql`
      delete from run_texts t using jsonb_to_recordset(${JSON.stringify(texts)}::jsonb)
        as o("runId" text, turn int, attempt int)
      where t.run_id = o."runId" and t.turn = o.turn and t.attempt = o.attempt`);
  },

  /** @returns what has changed in these workspaces since the reader's state */
  async readChanged(customerIds: readonly string[], known: readonly KnownText[]): Promise<RunText[]> {
    return db.rows<RunText>(sql`
      select t.run_id as "runId", t.customer_id as "customerId", t.project_id as "projectId", t.turn, t.attempt, t.text
      from run_texts t left join jsonb_to_recordset(${JSON.stringify(known)}::jsonb)
        as k("runId" text, turn int, attempt int, length int) on k."runId" = t.run_id
      where t.customer_id = any(${sql.param([...customerIds])}::text[])
        and (k.turn, k.attempt, k.length) is distinct from (t.turn, t.attempt, t.length)
        and t.written_at > now() - ${10 * LINGER_MS} * interval '1 ms'
      order by t.run_id`);
  },
});
