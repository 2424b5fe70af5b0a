/** Queries on the audit log. */
import { and, count, desc, eq, gte, lt, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import { countRows, findPage, type Counted } from '../tallies/store.ts';
import type { AuditQuery } from './contract.ts';
import { auditLog } from './table.ts';

export type AuditStore = ReturnType<typeof createAuditStore>;
type AuditRow = typeof auditLog.$inferSelect;

export const createAuditStore = (db: Database) => ({
  async insert(row: Pick<AuditRow, 'customerId' | 'actor' | 'action' | 'target' | 'change'>): Promise<number> {
    const [inserted] = await db.orm.insert(auditLog).values(row).returning({ id: auditLog.id });
    return inserted!.id;
  },

  /** @param made what is known of the target only now */
  async complete(id: number, status: number, made: Record<string, unknown>): Promise<void> {
    await db.orm
      .update(auditLog)
      .set({ status, target: sql`${auditLog.target} || ${JSON.stringify(made)}::jsonb` })
      .where(eq(auditLog.id, id));
  },

  async delete(id: number): Promise<void> {
    await db.orm.delete(auditLog).where(eq(auditLog.id, id));
  },

  /** Newest first. */
  async list(customerId: string, { action, actor, since, limit, offset }: AuditQuery) {
    const where = and(
      eq(auditLog.customerId, customerId),
      action === undefined ? undefined : eq(auditLog.action, action),
      actor === undefined ? undefined : eq(auditLog.actor, actor),
      since === undefined ? undefined : gte(auditLog.createdAt, since),
    );
    const page = (more: SQL | undefined, left: number) =>
      db.orm.select().from(auditLog).where(and(where, more)).orderBy(desc(auditLog.id)).limit(limit).offset(left);
    if (since !== undefined) {
      // From the oldest row of the window on: a page that the window does not fill would look for more in all the others.
      const [window] = await db.orm
        .select({ total: count(), from: sql<number>`coalesce(min(${auditLog.id}), 0)::float8` })
        .from(auditLog)
        .where(where);
      const { total, from } = window!;
      return { rows: total > offset ? await page(gte(auditLog.id, from), offset) : [], total };
    }
    const counted: Counted<'audit_log'> = { list: 'audit_log', customerId, filter: { action, actor } };
    const start = await findPage(db, counted, offset);
    const rows = await page(start.below === undefined ? undefined : lt(auditLog.id, start.below), start.offset);
    return { rows, total: await countRows(db, counted) };
  },
});
