/** Queries on exports. An export moves on in statements that name the state it moves on from, and the try that moves it. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { newUuid } from '../../../platform/core/ids.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { takeDue, type ClaimQueue, type Turn } from '../../../platform/db/in-turn.ts';
import type { Packed } from '../archive/pack.ts';
import type { ExportFailure, ExportProgress, ExportRef } from '../model.ts';
import { workspaceExports } from '../table.ts';

import { workspaceOf } from '../../workspaces/store/fragments.ts';
export type ExportStore = ReturnType<typeof createExportStore>;
export type ExportRow = typeof workspaceExports.$inferSelect;

/** One try to make the archive. */
export interface ExportTry extends ExportRef {
  folder: string;
}

const OPEN = sql`status in ('queued', 'running')`;
const DUE: ClaimQueue = { table: 'workspace_exports', at: 'due_at', open: OPEN };

const isIt = ({ customerId, exportId }: ExportRef) =>
  and(eq(workspaceExports.customerId, customerId), eq(workspaceExports.id, exportId));

export const createExportStore = (db: Database) => ({
  /** @throws Problem export_under_way */
  async insert(customerId: string, requestedBy: string): Promise<ExportRow> {
    const [row] = await db.orm
      .insert(workspaceExports)
      .values({ id: newUuid(), customerId, requestedBy })
      .onConflictDoNothing()
      .returning();
    if (!row) throw new Problem('export_under_way');
    return row;
  },

  isUnderWay: async (customerId: string): Promise<boolean> =>
    (await db.orm.$count(workspaceExports, and(eq(workspaceExports.customerId, customerId), OPEN))) > 0,

  /** @returns them, the newest first */
  list: (customerId: string): Promise<ExportRow[]> =>
    db.orm
      .select()
      .from(workspaceExports)
      .where(eq(workspaceExports.customerId, customerId))
      .orderBy(desc(workspaceExports.createdAt), desc(workspaceExports.id))
      .limit(100),

  /** @throws Problem not_found */
  async find(ref: ExportRef): Promise<ExportRow> {
    const [row] = await db.orm.select().from(workspaceExports).where(isIt(ref));
    return found(row);
  },

  /** Begins a try; earlier ones write nothing from then on. @returns undefined where none is wanted any more */
  async begin(ref: ExportRef, folder: string): Promise<ExportRow | undefined> {
    const [row] = await db.orm
      .update(workspaceExports)
      .set({ status: 'running', phase: 'rows', folder, tablesDone: 0, rowsDone: 0, filesDone: 0 })
      .where(and(isIt(ref), OPEN))
      .returning();
    return row;
  },

  /** @returns whether this try is still the one that counts */
  async recordProgress({ customerId, exportId, folder }: ExportTry, progress: ExportProgress): Promise<boolean> {
    const { phase, tables, rows, files } = progress;
    const updated = await db.rows(sql`
      update workspace_exports set phase = ${phase}, tables_done = ${tables}, rows_done = ${rows}, files_done = ${files}
      where customer_id = ${customerId} and id = ${exportId} and status = 'running' and folder = ${folder} returning 1`);
    return updated.length > 0;
  },

  /** @returns false where the try does not count any more, so that its parts are to go */
  async recordReady({ customerId, exportId, folder }: ExportTry, packed: Packed, ttlMs: number): Promise<boolean> {
    const { sizeBytes, sha256, summary } = packed;
    const updated = await db.rows(sql`
      update workspace_exports set status = 'ready', phase = null, size_bytes = ${sizeBytes}, sha256 = ${sha256},
        summary = ${JSON.stringify(summary)}::jsonb, rows_done = ${summary.rows}, files_done = ${summary.files},
        completed_at = now(), expires_at = now() + ${ttlMs} * interval '1 ms'
      where customer_id = ${customerId} and id = ${exportId} and status = 'running' and folder = ${folder} returning 1`);
    return updated.length > 0;
  },

  async recordFailed({ customerId, exportId }: ExportRef, code: ExportFailure): Promise<void> {
    await db.rows(sql`
      update workspace_exports set status = 'failed', phase = null, error_code = ${code}, completed_at = now()
      where customer_id = ${customerId} and id = ${exportId} and ${OPEN}`);
  },

  /** Ends what is under way, and takes a ready archive back. */
  async remove({ customerId, exportId }: ExportRef): Promise<void> {
    await db.rows(sql`
      update workspace_exports set status = 'removed', phase = null, completed_at = coalesce(completed_at, now())
      where customer_id = ${customerId} and id = ${exportId} and status in ('queued', 'running', 'ready')`);
  },

  /** Of all workspaces: the archives that are past their time. */
  listExpired: (limit: number) =>
    db.rows<{ customerId: string; exportId: string }>(sql`
      select customer_id as "customerId", id as "exportId" from workspace_exports
      where status = 'ready' and expires_at < now() order by expires_at limit ${limit}`),

  takeDue: (turn: Turn, againMs: number) => takeDue(db, DUE, turn, againMs),

  loadMany: (ids: readonly string[]) =>
    db.rows<{ id: string; customerId: string; workspaceId: string }>(sql`
      select e.id::text as id, e.customer_id as "customerId", w.identity_workspace_id as "workspaceId"
      from workspace_exports e cross join ${workspaceOf(sql`e.customer_id`)} w
      where e.id = any(${sql.param([...ids])}::uuid[]) and e.status in ('queued', 'running')`),

  /** Looked at again much later: Temporal has it. */
  async noteStarted(ids: readonly string[]): Promise<void> {
    await db.rows(sql`
      update workspace_exports set due_at = now() + interval '5 minutes'
      where id = any(${sql.param([...ids])}::uuid[]) and ${OPEN}`);
  },
});
