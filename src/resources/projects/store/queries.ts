/**
 * Queries for readers of projects. Every query that a caller can reach takes the workspace; rows have the shape in
 * which they are sent.
 */
import { sql } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { ProjectInput } from '../../../../workflows/project/messages.ts';
import { isSampleRun } from '../../runs/store/queries.ts';
import { countRows, findPage, listFilters } from '../../tallies/store.ts';
import type { ArtifactRow, AttemptRow, ProjectRow, SubtaskRow, TaskRow } from '../contract.ts';
import type { GateKind } from '../../templates/model.ts';
import { MOST_FOUND, type BoardPhase, type Pause, type ProjectStatus, type TaskStatus } from '../model.ts';
import { HAS_SAMPLE_CONTENT, isPriced, PROJECT, spentOf } from './project-columns.ts';
import { pausedSince } from './record.ts';
import { workspaceOf } from '../../workspaces/store/fragments.ts';

const TASK = sql`
  t.id, t.project_id, t.phase_slug, t.title, t.status, t.depends_on, t.task_kind, t.cascade_on_upstream_change,
  ${spentOf(sql`'task:' || t.id`)} as cost_usd, ${isPriced(sql`x.task_id = t.id`)} as is_priced, t.cost_budget_usd, t.created_at, t.started_at, t.completed_at`;

const SUBTASK = sql`
  s.id, s.project_id, s.task_id, s.step_slug, s.title, s.kind, s.role, s.assignee, s.status, s.instructions, s.tools,
  s.skills, s.depends_on, s.output_schema, s.effort, s.max_attempts, s.timeout_s, s.gate_kind, s.gate_config, s.gate_output,
  tried.attempt_count, tried.cost_usd, ${isPriced(sql`x.subtask_id = s.id`)} as is_priced, null as cost_budget_usd, s.error, s.created_at, s.started_at, s.completed_at`;

const TRIED = sql`cross join lateral (
  select count(*)::int as attempt_count, coalesce(sum(a.cost_usd), 0)::text as cost_usd
  from attempts a where a.subtask_id = s.id) tried`;

const ATTEMPT = sql`
  a.id, a.project_id, a.task_id, a.subtask_id, a.attempt_number, a.attempt_reason, a.status, a.output,
  a.output_validated, a.error, a.cost_usd::text, ${isPriced(sql`x.id = a.id`)} as is_priced, a.child_run_id, a.created_at, a.started_at, a.completed_at,
  round(extract(epoch from a.completed_at - a.started_at) * 1000)::int as duration_ms`;

/** An artifact that an action made has no run of its own: it is made of what the project's runs answered. */
const IS_SAMPLE_ARTIFACT = sql`coalesce((
    select ${isSampleRun(sql`r.model_provider`)} from attempts made join runs r on r.id = made.child_run_id
    where made.id = a.produced_by_attempt_id),
  (select ${HAS_SAMPLE_CONTENT} from projects p where p.id = a.project_id))`;

const ARTIFACT = sql`
  a.id, a.project_id, a.task_id, a.phase_slug, a.version, a.schema_slug, a.content, a.produced_by_subtask_id,
  a.produced_by_attempt_id, a.produced_via, a.superseded, a.supersedes_artifact_id, a.superseded_by_artifact_id,
  ${IS_SAMPLE_ARTIFACT} as sample, a.created_at`;

export interface ProjectFilter {
  status?: ProjectStatus | undefined;
  workflowSlug?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const chooseProjects = listFilters('projects', sql`p.customer_id`, {
  status: (status: ProjectStatus) => sql`p.status = ${status}`,
  workflow_slug: (slug: string) => sql`p.workflow_slug = ${slug}`,
});

export async function listProjects(
  db: Database,
  customerId: string,
  { workflowSlug, ...filter }: Omit<ProjectFilter, 'from' | 'to'>,
  { limit, offset }: { limit: number; offset: number },
) {
  const { where, tallied } = chooseProjects(customerId, { ...filter, workflow_slug: workflowSlug });
  const start = await findPage(db, tallied, offset);
  // The page is cut before anything is looked up for its rows, so that the rows that an offset skips cost nothing.
  const rows = await db.rows<ProjectRow>(sql`
    select ${PROJECT} from (
      select * from projects p where ${where}
        ${start.below === undefined ? sql`` : sql`and p.seq < ${start.below}::bigint`}
      order by p.seq desc limit ${limit} offset ${start.offset}) p
    order by p.seq desc`);
  return { rows, total: await countRows(db, tallied) };
}

/** Finds projects between times or of these ids. That is not tallied, so it is counted, and only so far. */
export async function findProjects(
  db: Database,
  customerId: string,
  { workflowSlug, from, to, ids, ...filter }: ProjectFilter & { ids: readonly string[] | undefined },
  { limit, offset }: { limit: number; offset: number },
) {
  const { where } = chooseProjects(customerId, { ...filter, workflow_slug: workflowSlug });
  const found = await db.rows<{ id: string }>(sql`
    select p.id from projects p where ${where}
      ${ids === undefined ? sql`` : sql`and p.id = any(${sql.param(ids)}::text[])`}
      ${from === undefined ? sql`` : sql`and p.created_at >= ${from.toISOString()}::timestamptz`}
      ${to === undefined ? sql`` : sql`and p.created_at < ${to.toISOString()}::timestamptz`}
    order by p.created_at desc, p.seq desc limit ${MOST_FOUND}`);
  const page = found.slice(offset, offset + limit).map(({ id }) => id);
  const rows = await db.rows<ProjectRow>(sql`
    select ${PROJECT} from projects p where p.customer_id = ${customerId} and p.id = any(${sql.param(page)}::text[])
    order by p.created_at desc, p.seq desc`);
  return { rows, total: found.length };
}

export async function findProject(db: Database, customerId: string, projectId: string) {
  const [row] = await db.rows<ProjectRow>(
    sql`select ${PROJECT} from projects p where p.customer_id = ${customerId} and p.id = ${projectId}`,
  );
  return row;
}

/** Reads just enough to know whether a command makes sense. */
export async function findProjectState(db: Database, customerId: string, projectId: string) {
  const [row] = await db.rows<{ id: string; status: ProjectStatus }>(
    sql`select id, status from projects where customer_id = ${customerId} and id = ${projectId}`,
  );
  return row;
}

export const listTasks = (db: Database, customerId: string, projectId: string) =>
  db.rows<TaskRow>(sql`
    select ${TASK} from tasks t where t.customer_id = ${customerId} and t.project_id = ${projectId}
    order by t.position`);

/** @returns the slugs in pipeline order, without edit sessions */
export async function listPhaseSlugs(db: Database, customerId: string, projectId: string): Promise<string[]> {
  const rows = await db.rows<{ slug: string }>(sql`
    select phase_slug as slug from tasks
    where customer_id = ${customerId} and project_id = ${projectId} and task_kind = 'regular' order by position`);
  return rows.map(({ slug }) => slug);
}

export async function findTask(db: Database, customerId: string, projectId: string, taskId: string) {
  const [row] = await db.rows<TaskRow>(sql`
    select ${TASK} from tasks t
    where t.id = ${taskId} and t.customer_id = ${customerId} and t.project_id = ${projectId}`);
  return row;
}

export const listSubtasks = (db: Database, customerId: string, taskId: string) =>
  db.rows<SubtaskRow>(sql`
    select ${SUBTASK} from subtasks s ${TRIED} where s.customer_id = ${customerId} and s.task_id = ${taskId}
    order by s.position`);

export async function findSubtask(db: Database, customerId: string, projectId: string, subtaskId: string) {
  const [row] = await db.rows<SubtaskRow>(sql`
    select ${SUBTASK} from subtasks s ${TRIED}
    where s.id = ${subtaskId} and s.customer_id = ${customerId} and s.project_id = ${projectId}`);
  return row;
}

/** Reads just enough of a step, and of its project, to know whether a command makes sense. */
export async function findSubtaskState(db: Database, customerId: string, projectId: string, subtaskId: string) {
  const [row] = await db.rows<SubtaskState>(sql`
    select s.id, s.gate_kind as "gateKind", s.status, p.status as "projectStatus"
    from subtasks s join projects p on p.id = s.project_id and p.customer_id = s.customer_id
    where s.id = ${subtaskId} and s.customer_id = ${customerId} and s.project_id = ${projectId}`);
  return row;
}

interface SubtaskState {
  id: string;
  gateKind: GateKind | null;
  status: TaskStatus;
  projectStatus: ProjectStatus;
}

export const listAttempts = (db: Database, customerId: string, subtaskId: string) =>
  db.rows<AttemptRow>(sql`
    select ${ATTEMPT} from attempts a where a.customer_id = ${customerId} and a.subtask_id = ${subtaskId}
    order by a.attempt_number`);

export async function findLatestAttempt(db: Database, customerId: string, subtaskId: string) {
  const [row] = await db.rows<AttemptRow>(sql`
    select ${ATTEMPT} from attempts a where a.customer_id = ${customerId} and a.subtask_id = ${subtaskId}
    order by a.attempt_number desc limit 1`);
  return row;
}

/** @returns artifacts in pipeline order, then by version */
export const listArtifacts = (db: Database, customerId: string, projectId: string, currentOnly: boolean) =>
  db.rows<ArtifactRow>(sql`
    select ${ARTIFACT} from artifacts a join tasks t on t.id = a.task_id
    where a.customer_id = ${customerId} and a.project_id = ${projectId} and not (a.superseded and ${currentOnly})
    order by t.position, a.version`);

export async function findArtifact(db: Database, customerId: string, projectId: string, artifactId: string) {
  const [row] = await db.rows<ArtifactRow>(sql`
    select ${ARTIFACT} from artifacts a
    where a.id = ${artifactId} and a.customer_id = ${customerId} and a.project_id = ${projectId}`);
  return row;
}

export async function isArtifactVersion(
  db: Database,
  customerId: string,
  projectId: string,
  { phaseSlug, version }: { phaseSlug: string; version: number },
): Promise<boolean> {
  const rows = await db.rows(sql`
    select 1 from artifacts where customer_id = ${customerId} and project_id = ${projectId}
      and phase_slug = ${phaseSlug} and version = ${version}::bigint`);
  return rows.length > 0;
}

/** The share of the budget is exact, because Postgres does the division as well. */
export async function sumCost(db: Database, customerId: string, projectId: string) {
  const [row] = await db.rows<{ total_usd: string; budget_usd: string | null; budget_burn: number }>(sql`
    select spent.usd::text as total_usd, p.cost_budget_usd as budget_usd,
      coalesce(spent.usd / nullif(p.cost_budget_usd, 0), 0)::float8 as budget_burn
    from projects p cross join lateral (
      select coalesce((select b.spent_usd from budgets b where b.id = 'project:' || p.id), 0) as usd) spent
    where p.customer_id = ${customerId} and p.id = ${projectId}`);
  return row;
}

/**
 * What a project's workflow is started with, as the record has it now. Temporal keeps this value, so it has no words of
 * the brief.
 */
export type ProjectBoard = Pick<
  ProjectInput,
  'projectId' | 'customerId' | 'workspaceId' | 'title' | 'workflowSlug' | 'phases' | 'status' | 'pause'
> & { costUsd: string };

/** Loads the board of a project in any workspace, for the service itself. */
export async function loadBoard(db: Database, projectId: string): Promise<ProjectBoard | undefined> {
  type Phase = Omit<BoardPhase, 'dependsOn'> & { dependsOn: string[] };
  const [row] = await db.rows<Omit<ProjectBoard, 'phases' | 'pause'> & { phases: Phase[]; pause: Pause | null }>(sql`
    select p.id as "projectId", p.customer_id as "customerId", w.identity_workspace_id as "workspaceId",
      case when p.is_titled then p.title else p.workflow_slug end as title, p.workflow_slug as "workflowSlug", p.status, ${spentOf(sql`'project:' || p.id`)} as "costUsd",
      case when p.status = 'paused' then jsonb_build_object('reason', p.pause_reason, 'since', ${pausedSince(sql`p.id`)}) end as pause,
      (select coalesce(jsonb_agg(jsonb_build_object('slug', t.phase_slug, 'taskId', t.id, 'status', t.status,
          'dependsOn', t.depends_on, 'iteration', t.iteration) order by t.position), '[]')
        from tasks t where t.project_id = p.id) as phases
    from projects p cross join ${workspaceOf(sql`p.customer_id`)} w
    where p.id = ${projectId}`);
  if (!row) return undefined;
  const { pause, ...board } = row;
  const positions = new Map(row.phases.map(({ slug }, position) => [slug, position]));
  const phases = row.phases.map((phase) => ({
    ...phase,
    dependsOn: phase.dependsOn.map((slug) => present(positions.get(slug))),
  }));
  return { ...board, ...(pause && { pause }), phases };
}
