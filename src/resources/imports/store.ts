/** Queries on imports. An import moves on in statements that name the state it moves on from. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { newUuid } from '../../platform/core/ids.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { takeDue, type Queue, type Turn } from '../../platform/db/in-turn.ts';
import type { Checked, WITH_IDS } from './archive/check.ts';
import { UPLOAD_TTL_S, type ImportFailure, type ImportRef, type ImportResult } from './model.ts';
import { workspaceImports } from './table.ts';

export type ImportStore = ReturnType<typeof createImportStore>;
export type ImportRow = typeof workspaceImports.$inferSelect;

const OPEN = sql`status in ('uploading', 'queued', 'running')`;
const DUE: Queue = { table: 'workspace_imports', at: 'due_at', open: OPEN };

const isIt = ({ customerId, importId }: ImportRef) =>
  and(eq(workspaceImports.customerId, customerId), eq(workspaceImports.id, importId));

export const createImportStore = (db: Database) => ({
  /** @throws Problem import_under_way */
  async insert(customerId: string, requestedBy: string, archive: { sizeBytes: number; sha256: string }) {
    const dueAt = sql`now() + ${UPLOAD_TTL_S} * interval '1 second'`;
    const [row] = await db.orm
      .insert(workspaceImports)
      .values({ id: newUuid(), customerId, requestedBy, ...archive, dueAt })
      .onConflictDoNothing()
      .returning();
    if (!row) throw new Problem('import_under_way');
    return row;
  },

  isUnderWay: async (customerId: string): Promise<boolean> =>
    (await db.orm.$count(workspaceImports, and(eq(workspaceImports.customerId, customerId), OPEN))) > 0,

  /** @returns them, the newest first */
  list: (customerId: string): Promise<ImportRow[]> =>
    db.orm
      .select()
      .from(workspaceImports)
      .where(eq(workspaceImports.customerId, customerId))
      .orderBy(desc(workspaceImports.createdAt), desc(workspaceImports.id))
      .limit(100),

  /** @throws Problem not_found */
  async find(ref: ImportRef): Promise<ImportRow> {
    const [row] = await db.orm.select().from(workspaceImports).where(isIt(ref));
    return found(row);
  },

  /** Parts come one after another. @returns whether this one was next */
  async recordPart(ref: ImportRef, part: number): Promise<boolean> {
    const updated = await db.orm
      .update(workspaceImports)
      .set({ parts: part + 1, dueAt: sql`now() + ${UPLOAD_TTL_S} * interval '1 second'` })
      .where(and(isIt(ref), eq(workspaceImports.status, 'uploading'), eq(workspaceImports.parts, part)))
      .returning({ id: workspaceImports.id });
    return updated.length > 0;
  },

  /** @returns false where it is not waiting for its parts */
  async queue(ref: ImportRef): Promise<boolean> {
    const updated = await db.orm
      .update(workspaceImports)
      .set({ status: 'queued', dueAt: sql`now() + interval '15 seconds'` })
      .where(and(isIt(ref), eq(workspaceImports.status, 'uploading')))
      .returning({ id: workspaceImports.id });
    return updated.length > 0;
  },

  /** @returns undefined where it is not wanted any more */
  async begin(ref: ImportRef): Promise<ImportRow | undefined> {
    const [row] = await db.orm
      .update(workspaceImports)
      .set({
        status: 'running',
        phase: sql`case when ${workspaceImports.archiveId} is null then 'checking' else 'bringing' end::import_phase`,
      })
      .where(and(isIt(ref), sql`${workspaceImports.status} in ('queued', 'running')`))
      .returning();
    return row;
  },

  /**
   * Looks at what others have, of which it tells nothing but whether.
   * @returns whether another workspace has one of these ids
   */
  async areTaken(customerId: string, table: (typeof WITH_IDS)[number], ids: readonly string[]): Promise<boolean> {
    const taken = await db.rows(sql`
      select 1 from ${sql.identifier(table)} where id::text = any(${sql.param([...ids])}::text[])
        and customer_id <> ${customerId} limit 1`);
    return taken.length > 0;
  },

  /** What an earlier import of the same archive did with its ids, this one does. */
  async idsWereTaken(customerId: string, archiveId: string): Promise<boolean | undefined> {
    const [row] = await db.rows<{ taken: boolean }>(sql`
      select are_ids_taken as taken from workspace_imports
      where customer_id = ${customerId} and archive_id = ${archiveId}::uuid and are_ids_taken is not null
      order by created_at limit 1`);
    return row?.taken;
  },

  async recordChecked(ref: ImportRef, checked: Checked, areIdsTaken: boolean): Promise<void> {
    const { archiveId, source, asOf, entries } = checked;
    await db.orm
      .update(workspaceImports)
      .set({ phase: 'bringing', archiveId, source, asOf: new Date(asOf), entries, areIdsTaken })
      .where(and(isIt(ref), eq(workspaceImports.status, 'running')));
  },

  /** @throws Error where another try is further, or it is not wanted any more: the transaction around it goes with it */
  async recordBrought(ref: ImportRef, position: number, result: ImportResult): Promise<void> {
    const updated = await db.orm
      .update(workspaceImports)
      .set({ position, result })
      .where(and(isIt(ref), eq(workspaceImports.status, 'running'), eq(workspaceImports.position, position - 1)))
      .returning({ id: workspaceImports.id });
    if (updated.length === 0) throw new Error('the import has moved on');
  },

  async recordDone(ref: ImportRef): Promise<void> {
    await db.orm
      .update(workspaceImports)
      .set({ status: 'done', phase: null, completedAt: sql`now()` })
      .where(and(isIt(ref), eq(workspaceImports.status, 'running')));
  },

  async recordFailed(ref: ImportRef, errorCode: ImportFailure, errorMessage: string): Promise<void> {
    await db.orm
      .update(workspaceImports)
      .set({ status: 'failed', phase: null, errorCode, errorMessage, completedAt: sql`now()` })
      .where(and(isIt(ref), OPEN));
  },

  async remove(ref: ImportRef): Promise<void> {
    await db.orm
      .update(workspaceImports)
      .set({ status: 'removed', phase: null, completedAt: sql`now()` })
      .where(and(isIt(ref), OPEN));
  },

  takeDue: (turn: Turn, againMs: number) => takeDue(db, DUE, turn, againMs),

  loadMany: (ids: readonly string[]) =>
    db.rows<{ id: string; customerId: string; workspaceId: string; isUploading: boolean }>(sql`
      select i.id::text as id, i.customer_id as "customerId", w.identity_workspace_id as "workspaceId",
        i.status = 'uploading' as "isUploading"
      from workspace_imports i join workspaces w on w.customer_id = i.customer_id
      where i.id = any(${sql.param([...ids])}::uuid[]) and i.status in ('uploading', 'queued', 'running')`),

  /** Looked at again much later: Temporal has it. */
  async noteStarted(ids: readonly string[]): Promise<void> {
    await db.rows(sql`
      update workspace_imports set due_at = now() + interval '5 minutes'
      where id = any(${sql.param([...ids])}::uuid[]) and status in ('queued', 'running')`);
  },

  /** @returns where the bytes of a row that an import brought belong */
  async fileKeyOf(customerId: string, table: string, id: string): Promise<string | undefined> {
    const [row] = await db.rows<{ key: string }>(sql`
      select file_key as key from ${sql.identifier(table)}
      where customer_id = ${customerId} and id::text = ${id} and file_key like ${`%/${customerId}/imported/%`}`);
    return row?.key;
  },

  hasMemory: async (
    customerId: string,
    { type, slug, content }: { type: string; slug: string | null; content: string },
  ) =>
    (
      await db.rows(sql`
        select 1 from memory_entries where customer_id = ${customerId}
          and case when ${slug}::text is null then type = ${type} and content = ${content} else slug = ${slug} end limit 1`)
    ).length > 0,
});
