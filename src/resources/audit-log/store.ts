/** Queries on the audit log. */
import { and, count, desc, eq, gte, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
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
    const rows = await db.orm
      .select()
      .from(auditLog)
      .where(where)
      .orderBy(desc(auditLog.id))
      .limit(limit)
      .offset(offset);
    const [total] = await db.orm.select({ total: count() }).from(auditLog).where(where);
    return { rows, total: total!.total };
  },
});
