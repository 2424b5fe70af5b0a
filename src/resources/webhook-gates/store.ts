/** Reads of webhook gates; the rows are the subtasks of projects. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { TaskStatus } from '../projects/model.ts';
import { countsOf } from '../tallies/store.ts';
import type { GateQuery, WebhookGateRow } from './contract.ts';

export type WebhookGateStore = ReturnType<typeof createWebhookGateStore>;

export const createWebhookGateStore = (db: Database) => ({
  listGates: (customerId: string, { status, limit }: GateQuery) =>
    db.rows<WebhookGateRow>(sql`
      select s.id as subtask_id, s.project_id, p.title as project_title, p.workflow_slug, t.phase_slug, s.step_slug,
        s.task_id, s.status, coalesce(s.gate_config, '{}') as gate_config,
        (select coalesce(jsonb_agg(jsonb_build_object('phase_slug', a.phase_slug, 'artifact_id', a.id,
            'version', a.version) order by up.position), '[]')
          from tasks up join artifacts a on a.task_id = up.id and not a.superseded
          where up.project_id = s.project_id and up.phase_slug = any(t.depends_on)) as consumes_artifacts,
        (select coalesce(jsonb_agg(before.id order by before.position), '[]') from subtasks before
          where before.task_id = s.task_id and before.step_slug = any(s.depends_on)) as consumes_subtasks,
        s.created_at, s.started_at, s.completed_at
      from subtasks s join tasks t on t.id = s.task_id join projects p on p.id = s.project_id
      where s.customer_id = ${customerId} and s.gate_kind = 'webhook'
        ${status === undefined ? sql`` : sql`and s.status = ${status}::task_status`}
      order by ${status === undefined ? sql`(s.status = 'blocked') desc,` : sql``}
        coalesce(s.completed_at, s.started_at, s.created_at) desc, s.id desc
      limit ${limit}`),

  countByStatus: (customerId: string) =>
    db.rows<{ status: TaskStatus; count: number }>(sql`
      select c.dims[1]::task_status as status, sum(c.rows)::float8 as count
      from ${countsOf({ list: 'webhook_gates', customerId })} c
      group by 1 having sum(c.rows) <> 0 order by 1`),
});
