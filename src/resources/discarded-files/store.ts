/** Queries on files that are to be deleted. They belong to nobody: their keys are used once. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import { discardedFiles } from './table.ts';

export type DiscardedFileStore = ReturnType<typeof createDiscardedFileStore>;

/** A write that was given up has arrived by then, if the storage works again. */
const ARRIVED_MS = 60_000;

const inMs = (ms: number) => sql`now() + ${ms} * interval '1 ms'`;

export const createDiscardedFileStore = (db: Database) => ({
  async add(key: string): Promise<void> {
    await db.orm
      .insert(discardedFiles)
      .values({ key })
      .onConflictDoUpdate({ target: discardedFiles.key, set: { deletedAt: null, dueAt: sql`now()` } });
  },

  listDue: (limit: number) =>
    db.rows<{ key: string }>(sql`
      select key from ${discardedFiles} where due_at <= now() order by due_at limit ${limit}`),

  /** Notes a deletion. The last one is that after which nothing can arrive any more, whoever made the one before. */
  async noteDeleted(key: string): Promise<void> {
    await db.rows(sql`delete from ${discardedFiles} where key = ${key} and deleted_at <= ${inMs(-ARRIVED_MS)}`);
    await db.rows(sql`
      update ${discardedFiles} set deleted_at = coalesce(deleted_at, now()), due_at = ${inMs(ARRIVED_MS)}
      where key = ${key}`);
  },

  async postpone(ms: number): Promise<void> {
    await db.rows(sql`update ${discardedFiles} set due_at = ${inMs(ms)} where due_at <= now()`);
  },
});
