/**
 * Ends a project whose phases are all done, and records what is sent to endpoints and told to those who wait for it.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { insertOutputs, pendingOutputs } from '../../output-destinations/store/outbox.ts';
import { insertDeliveries, pendingDeliveries, type WebhookMessage } from '../../webhook-subscriptions/store/outbox.ts';
import type { ProjectStatus } from '../model.ts';
import { HAS_SAMPLE_CONTENT } from '../store/project-columns.ts';
import { insertEvents, type LockedProject } from '../store/record.ts';
import { runCommand } from './run-command.ts';
import { DONE } from '../store/statuses.ts';

export interface Completion {
  /** It is also true for a repeat, so that whoever lost the first answer can go on. */
  completed: boolean;
  status: ProjectStatus;
  /** The ids of deliveries to webhooks. */
  deliveries: string[];
  /** The ids of deliveries to output destinations. */
  outputs: string[];
  /** Gates of other projects that wait for this one. */
  waiters: { projectId: string; subtaskId: string }[];
  /** Set where this very call completed it. */
  ended?: { workflowSlug: string; ageS: number };
}

/** Does nothing unless the project is active and each of its phases is done. @throws Problem not_found */
export const completeProject = (db: Database, { projectId }: { projectId: string }): Promise<Completion> =>
  runCommand(db, { projectId }, async (project) => {
    if (project.status === 'completed') {
      return { ...(await told(db, project)), deliveries: await listPendingDeliveries(db, project) };
    }
    const [done] = await db.rows<Completed>(sql`
      update projects p set status = 'completed', completed_at = now(), completions = completions + 1
      where p.id = ${projectId} and p.status = 'active' and not exists (
        select 1 from tasks t where t.project_id = p.id and t.status not in ${DONE})
      returning p.completions, p.workflow_slug as "workflowSlug", p.workflow_version as "workflowVersion",
        to_char(p.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "completedAt",
        ${HAS_SAMPLE_CONTENT} as sample,
        extract(epoch from now() - p.created_at)::float8 as "ageS",
        coalesce((select trim_scale(spent_usd) from budgets where id = 'project:' || p.id), 0)::text as "costUsd"`);
    if (!done) return { completed: false, status: project.status, deliveries: [], outputs: [], waiters: [] };
    const { costUsd, completions, workflowSlug, ageS } = done;
    const event = { topic: 'project_completed' as const, payload: { completions, cost_total_usd: costUsd } };
    const message: WebhookMessage = {
      customerId: project.customerId,
      eventType: 'project.completed',
      eventKey: `project:${projectId}:${completions}`,
      data: {
        project_id: projectId,
        title: project.title,
        workflow_slug: workflowSlug,
        workflow_version: done.workflowVersion,
        status: 'completed',
        cost_total_usd: costUsd,
        completed_at: done.completedAt,
        ...(done.sample && { sample: true }),
      },
    };
    const deliveries = await insertDeliveries(db, message, sql`, noted as (${insertEvents(project, [event])})`);
    await insertOutputs(db, project);
    return { ...(await told(db, project)), deliveries, ended: { workflowSlug, ageS } };
  });

interface Completed {
  completions: number;
  workflowSlug: string;
  workflowVersion: number;
  /** The time in ISO 8601. */
  completedAt: string;
  sample: boolean;
  /** Since it was made, in seconds. */
  ageS: number;
  costUsd: string;
}

const waitersFor = (projectId: string): SQL => sql`
  select s.project_id as "projectId", s.id as "subtaskId"
  from projects p join subtasks s on s.customer_id = p.customer_id
  where p.id = ${projectId} and s.gate_kind = 'pipeline_dep' and s.status = 'blocked'
    and (s.gate_config ->> 'project_id') = p.id
  order by s.id`;

async function told(db: Database, { id }: LockedProject): Promise<Omit<Completion, 'deliveries'>> {
  const following = first(
    await db.rows<Pick<Completion, 'waiters' | 'outputs'>>(sql`
    select (select coalesce(jsonb_agg(to_jsonb(w)), '[]') from (${waitersFor(id)}) w) as waiters,
      (select coalesce(jsonb_agg(o.id), '[]') from (${pendingOutputs(id)}) o) as outputs`),
  );
  return { completed: true, status: 'completed', ...following };
}

/** @returns gates of the workspace's other projects that wait for the end of this one */
export const listWaiters = (db: Database, projectId: string) =>
  db.rows<{ projectId: string; subtaskId: string }>(waitersFor(projectId));

/** @returns those of its latest completion; an endpoint that was registered since then does not hear of it */
async function listPendingDeliveries(db: Database, { id }: LockedProject): Promise<string[]> {
  const eventKey = sql`'project:' || p.id || ':' || p.completions`;
  const rows = await db.rows<{ id: string }>(sql`
    select d.id from projects p, lateral (${pendingDeliveries(sql`p.customer_id`, eventKey)}) d
    where p.id = ${id} order by d.id`);
  return rows.map((row) => row.id);
}
