/** Records the deliveries that a completed project sets off, together with its completion. They are sent afterwards. */
import { sql, type SQL } from 'drizzle-orm';
import { newUuid } from '../../../platform/core/ids.ts';
import type { Database } from '../../../platform/db/client.ts';
import { artifacts, projects } from '../../projects/table.ts';
import { outputDeliveries, outputDestinations } from '../table.ts';

/**
 * Adds the deliveries within the transaction that completes the project: one for each current artifact and enabled
 * destination that has not had it. Repeating it adds nothing.
 */
export async function insertOutputs(
  db: Database,
  { id, customerId }: { id: string; customerId: string },
): Promise<void> {
  const pairs = await db.rows<{ destinationId: string; artifactId: string }>(sql`
    select d.id as "destinationId", a.id as "artifactId"
    from ${projects} p
      join ${outputDestinations} d on d.customer_id = p.customer_id and d.enabled and d.artifacts
        and (d.workflow_slugs is null or p.workflow_slug = any(d.workflow_slugs))
      join ${artifacts} a on a.project_id = p.id and not a.superseded
    where p.id = ${id} and p.customer_id = ${customerId}
      and not exists (select 1 from ${outputDeliveries} o where o.destination_id = d.id and o.artifact_id = a.id)
    order by a.created_at, a.id, d.id
    for key share of d`);
  if (pairs.length === 0) return;
  const rows = pairs.map((pair) => ({ ...pair, id: newUuid(), customerId, projectId: id }));
  await db.orm.insert(outputDeliveries).values(rows).onConflictDoNothing();
}

/** Gives the ids of deliveries that wait to be sent for a project, including those of an earlier call. */
export const pendingOutputs = (projectId: string): SQL => sql`
  select id from ${outputDeliveries} where project_id = ${projectId} and status = 'pending' order by id`;
