/** Statements on texts that are being written, and on who watches them. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
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

export const createRunTextStore = (db: Database) => ({
  /**
   * Notes that somebody watches these; a watch that is renewed goes on. Watches that nobody renewed are deleted, with
   * texts that stayed.
   */
  async renewWatches(watches: readonly Watch[]): Promise<void> {
    await db.rows(sql`
      with over as (delete from text_watches where until < now() - interval '1 minute'),
      stale as (delete from run_texts where written_at < now() - interval '1 minute')
      insert into text_watches (customer_id, watched, until)
      select w."customerId", w.watched, now() + ${WATCH_MS} * interval '1 ms'
      from jsonb_to_recordset(${JSON.stringify(watches)}::jsonb) as w("customerId" text, watched text)
      order by 1, 2
      on conflict (customer_id, watched) do update set until = excluded.until`);
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
      join runs r on r.id = n."runId" and r.customer_id = n."customerId"
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
