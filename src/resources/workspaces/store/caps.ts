/** Decides what may still be made in a workspace: nothing once it is archived, and only as many as its plan allows. */
import { eq, sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { capOf, tierOf, type CappedResource, type Plan } from '../model.ts';
import { workspaces } from '../table.ts';

/** The status for whoever wants to start something: a workspace that is being taken down counts as archived. */
export const openStatus: SQL<string> = sql<string>`case when ${workspaces.destroyingSince} is null
  then ${workspaces.status}::text else 'archived' end`;

export const planLimitExceeded = (plan: Plan, resource: CappedResource, current: number, limit: number): Problem =>
  new Problem('plan_limit_exceeded', { code: 'plan_limit_exceeded', resource, current, limit, tier: tierOf(plan) });

function refuseArchived({ status }: { status: string }): void {
  if (status === 'archived') throw new Problem('workspace_archived');
}

/**
 * Lets nobody else lock the workspace for as long as the transaction takes.
 * @throws Problem not_found, workspace_archived
 */
export async function lockOpen(db: Database, customerId: string): Promise<void> {
  const [row] = await db.rows<{ status: string }>(sql`
    select ${openStatus} as status from ${workspaces} where ${workspaces.customerId} = ${customerId}
    for no key update`);
  refuseArchived(found(row));
}

export const createCaps = (db: Database) => ({
  /**
   * Runs `insert` unless the workspace is archived, which it cannot become in the meantime.
   * @throws Problem workspace_archived, not_found
   */
  whileOpen: <T>(customerId: string, insert: () => Promise<T>): Promise<T> =>
    db.transaction(async () => {
      const [row] = await db.orm
        .select({ status: openStatus })
        .from(workspaces)
        .where(eq(workspaces.customerId, customerId))
        .for('share');
      refuseArchived(found(row));
      return insert();
    }),

  /**
   * Runs `insert` only while the workspace has fewer than its plan allows. Creates of one workspace wait for each
   * other on its row, so N at once never exceed the cap.
   * @throws Problem plan_limit_exceeded, workspace_archived, not_found
   */
  async underCap<T>(
    customerId: string,
    resource: CappedResource,
    count: () => Promise<number>,
    insert: () => Promise<T>,
  ): Promise<T> {
    return db.transaction(async () => {
      const [row] = await db.orm
        .select({ plan: workspaces.planInForce, status: openStatus })
        .from(workspaces)
        .where(eq(workspaces.customerId, customerId))
        .for('update');
      const workspace = found(row);
      refuseArchived(workspace);
      const { plan } = workspace;
      const limit = capOf(plan, resource);
      if (limit !== null) {
        const current = await count();
        if (current >= limit) throw planLimitExceeded(plan, resource, current, limit);
      }
      return insert();
    });
  },
});
