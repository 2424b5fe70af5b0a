/** Queries on the audit log. */
import { and, count, desc, eq, gt, gte, inArray, lt, sql, type SQL } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { countRows, findPage, listFilters } from '../tallies/store.ts';
import type { Concern } from '../../platform/http/endpoint.ts';
import { auditFrom, findWorkspaces } from '../workspaces/store/fragments.ts';
import type { AuditQuery } from './contract.ts';
import { auditLog } from './table.ts';

export type AuditStore = ReturnType<typeof createAuditStore>;
type AuditRow = typeof auditLog.$inferSelect;

/**
 * @returns what names the workspace. An id of a workspace begins as no slug does, so the two are never mistaken for
 * each other.
 */
export const refOf = (one: Concern): string => ('customerId' in one ? one.customerId : one.workspaceId);

const chooseEntries = listFilters('audit_log', auditLog.customerId, {
  action: (action: string) => eq(auditLog.action, action),
  actor: (actor: string) => eq(auditLog.actor, actor),
});

export const createAuditStore = (db: Database) => ({
  /** Inserts all rows or none. */
  async insert(rows: Pick<AuditRow, 'customerId' | 'actor' | 'action' | 'target' | 'change'>[]): Promise<number[]> {
    const inserted = await db.orm.insert(auditLog).values(rows).returning({ id: auditLog.id });
    return inserted.map(({ id }) => id);
  },

  /** @returns the customer of each workspace that exists, by `refOf` */
  async resolve(concerned: readonly Concern[]): Promise<Map<string, string>> {
    if (concerned.length === 0) return new Map();
    const ids = concerned.flatMap((one) => ('workspaceId' in one ? [one.workspaceId] : []));
    const slugs = concerned.flatMap((one) => ('customerId' in one ? [one.customerId] : []));
    const rows = await findWorkspaces(db, ids, slugs);
    return new Map(
      rows.flatMap(({ workspaceId, customerId }) => [workspaceId, customerId].map((ref) => [ref, customerId])),
    );
  },

  /** @param made is known of the target only now */
  async complete(ids: readonly number[], status: number, made: Record<string, unknown>): Promise<void> {
    await db.orm
      .update(auditLog)
      .set({ status, target: sql`${auditLog.target} || ${JSON.stringify(made)}::jsonb` })
      .where(inArray(auditLog.id, [...ids]));
  },

  async delete(ids: readonly number[]): Promise<void> {
    await db.orm.delete(auditLog).where(inArray(auditLog.id, [...ids]));
  },

  /** @returns a page, newest first, of the life that the workspace has now */
  async list(customerId: string, { since, limit, offset, ...filter }: AuditQuery) {
    const [life] = await db.rows<{ from: number | null }>(sql`select ${auditFrom(customerId)}::float8 as from`);
    const before = life?.from || undefined;
    const { where: chosen, tallied } = chooseEntries(customerId, filter);
    const where = and(
      chosen,
      since === undefined ? undefined : gte(auditLog.createdAt, since),
      before === undefined ? undefined : gt(auditLog.id, before),
    );
    const page = (more: SQL | undefined, left: number) =>
      db.orm.select().from(auditLog).where(and(where, more)).orderBy(desc(auditLog.id)).limit(limit).offset(left);
    if (since !== undefined || before !== undefined) {
      // The count begins at the oldest row of the window: a page that the window does not fill would look for more in
      // all the others.
      const { total, from } = first(
        await db.orm
          .select({ total: count(), from: sql<number>`coalesce(min(${auditLog.id}), 0)::float8` })
          .from(auditLog)
          .where(where),
      );
      return { rows: total > offset ? await page(gte(auditLog.id, from), offset) : [], total };
    }
    const start = await findPage(db, tallied, offset);
    const rows = await page(start.below === undefined ? undefined : lt(auditLog.id, start.below), start.offset);
    return { rows, total: await countRows(db, tallied) };
  },
});
