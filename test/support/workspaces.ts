/** Tenants for tests. */
import { standingIn } from '../../src/platform/core/rights.ts';
import type { Plan } from '../../src/resources/workspaces/model.ts';
import { workspaces } from '../../src/resources/workspaces/table.ts';
import { customerIdOf } from '../../src/platform/core/ids.ts';
import type { Database } from '../../src/platform/db/client.ts';
import type { Caller } from '../../src/platform/http/endpoint.ts';

/** Makes a workspace that is ready and gives its owner as a caller. */
export async function makeWorkspace(db: Database, workspaceId: string, plan: Plan = 'pro_hosted'): Promise<Caller> {
  const customerId = customerIdOf(workspaceId);
  await db.orm.insert(workspaces).values({
    identityWorkspaceId: workspaceId,
    customerId,
    plan,
    grantedPlan: plan,
    status: 'ready',
    readyAt: new Date(),
  });
  return { workspaceId, customerId, actor: `owner@${customerId}.example`, standing: standingIn(workspaceId, 'owner') };
}
