/** Finds projects that have not ended. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { GOING_PROJECT, OPEN_PROJECT } from './statuses.ts';

export const listOpenProjects = (db: Database, customerId: string, limit: number): Promise<{ id: string }[]> =>
  db.rows<{ id: string }>(sql`
    select id from projects where customer_id = ${customerId} and status in ${OPEN_PROJECT} order by id limit ${limit}`);

/** Counts the projects of a workflow that are not over, by the version that they were started with. */
export const countOpenVersions = (customerId: string, workflow: string): SQL => sql`
  select workflow_version as version, count(*)::int as count from projects
  where customer_id = ${customerId} and workflow_slug = ${workflow} and status in ${OPEN_PROJECT}
  group by workflow_version order by workflow_version desc`;

/** Selects `kind`, `status` and `created_at` of the projects of the deployment that go on, and of their gates that wait. */
export const OPEN_PROJECTS: SQL = sql`
  select 'project', status::text, created_at from projects where status in ${GOING_PROJECT}
  union all
  select 'gate', s.gate_kind::text, s.started_at
  from projects p join subtasks s on s.project_id = p.id
  where p.status in ${GOING_PROJECT} and s.status = 'blocked' and s.gate_kind is not null`;
