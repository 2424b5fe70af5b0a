/** Creates a project in one statement that plans all of it, or nothing. */
import { randomBytes } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import { newUuid } from '../../../platform/core/ids.ts';
import { present } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { withPropertyOrder } from '../../../platform/db/property-order.ts';
import { UPLOAD_TTL_MS } from '../model.ts';
import { shareOpen } from '../../workspaces/store/fragments.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import { ClaimLostError, holdingClaim } from '../../idempotency-keys/store.ts';
import {
  artifactStep,
  DEFAULT_MAX_ATTEMPTS,
  outputSchemaOf,
  stepDependencies,
  type PhaseSpec,
} from '../../templates/model.ts';
import type { ProjectRow } from '../contract.ts';
import { PROJECT } from './project-columns.ts';
import type { ProjectBoard } from './queries.ts';

export interface NewProject {
  customerId: string;
  title: string;
  /** Its workflow, brief and parameters are those of a recorded sample. */
  isSample: boolean;
  /** Says whether the title was given; otherwise it is made of the brief, which Temporal and addresses are not told. */
  isTitled: boolean;
  workflowSlug: string;
  workflowVersion: number;
  brief: string;
  params: Record<string, unknown> | null;
  authMode: 'session' | 'api_key';
  /** An e-mail address, or `api-key:<id>`. */
  startedBy?: string;
  costBudgetUsd: string | null;
  /** Phases in an order in which none stands before one that it depends on. */
  phases: readonly PhaseSpec[];
  /** Of files that were uploaded for it. */
  attachmentIds?: readonly string[];
}

const MAX_SLUG_LENGTH = 48;
/** Two projects of the same title get the same six hex digits once in millions of times. */
const MAX_TRIES = 5;

/** `Ein Käse-Blog!` -> `ein-kase-blog-3fa9c1` */
export function projectIdOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/-$/, '');
  return `${slug || 'project'}-${randomBytes(3).toString('hex')}`;
}

/** A project that was accepted, as its caller sees it, and what its workflow is started with. */
export interface PlannedProject {
  project: ProjectRow;
  board: ProjectBoard;
}

/** @throws Problem not_found, workspace_archived, bad_request */
export async function createProject(db: Database, project: NewProject, claim?: Claim): Promise<PlannedProject> {
  for (let tries = 1; ; tries++) {
    const id = projectIdOf(project.isTitled ? project.title : project.workflowSlug);
    const planned = await insertProject(db, id, project, claim);
    if (planned) return planned;
    if (tries === MAX_TRIES) throw new Error('found no free project id');
  }
}

/** @returns undefined where the id is taken */
async function insertProject(
  db: Database,
  id: string,
  project: NewProject,
  claim?: Claim,
): Promise<PlannedProject | undefined> {
  const { customerId, attachmentIds = [] } = project;
  if (!claim && attachmentIds.length === 0) return insertRows(db, id, project);
  return db.transaction(async () => {
    if (claim && (await db.rows(holdingClaim(claim, id))).length === 0) throw new ClaimLostError();
    const planned = await insertRows(db, id, project);
    if (planned) await takeUploads(db, id, customerId, attachmentIds);
    return planned;
  });
}

type InsertedRow = ProjectRow & { workspaceStatus: string; workspaceId: string; isInserted: boolean };

/** Inserts all rows of a project in one statement, unless its workspace is archived, or its id is taken. */
async function insertRows(db: Database, id: string, project: NewProject): Promise<PlannedProject | undefined> {
  const { customerId, title, isTitled, workflowSlug, workflowVersion, brief, params, authMode, startedBy } = project;
  const tasks = project.phases.map((phase, position) => ({ id: newUuid(), position, phase }));
  const budgets = [
    { id: `project:${id}`, limitUsd: project.costBudgetUsd },
    ...tasks.map((task) => ({ id: `task:${task.id}`, limitUsd: task.phase.cost_budget_usd ?? null })),
  ];
  const [inserted] = await db.rows<InsertedRow>(sql`
    with workspace as (
      ${shareOpen(customerId)}
    ), project as (
      insert into projects (id, customer_id, title, is_titled, workflow_slug, workflow_version, brief, params, auth_mode,
        started_by, is_sample, cost_budget_usd)
      select ${id}, ${customerId}, ${title}, ${isTitled}, ${workflowSlug}, ${workflowVersion}, ${brief},
        ${params === null ? null : JSON.stringify(params)}::jsonb, ${authMode}, ${startedBy ?? null}, ${project.isSample},
        ${project.costBudgetUsd}::numeric
      from workspace where status <> 'archived'
      on conflict (id) do nothing returning *
    ), inserted_tasks as (${insertTasks(tasks)}), inserted_subtasks as (${insertSubtasks(tasks)}), inserted_budgets as (
      insert into budgets (id, customer_id, limit_usd)
      select b.id, project.customer_id, b."limitUsd"
      from project, jsonb_to_recordset(${JSON.stringify(budgets)}::jsonb) as b(id text, "limitUsd" numeric)
    )
    select workspace.status as "workspaceStatus", workspace.identity_workspace_id as "workspaceId",
      p.id is not null as "isInserted", ${PROJECT}
    from workspace left join project p on true`);
  const { workspaceStatus, workspaceId, isInserted, ...row } = found(inserted);
  if (workspaceStatus === 'archived') throw new Problem('workspace_archived');
  if (!isInserted) return undefined;
  const positions = new Map(tasks.map(({ phase, position }) => [phase.slug, position]));
  const phases = tasks.map(({ id: taskId, phase: { slug, depends_on = [] } }) => ({
    slug,
    taskId,
    status: 'pending' as const,
    dependsOn: depends_on.map((each) => present(positions.get(each))),
    iteration: 0,
  }));
  const { status } = row;
  const names = { title: isTitled ? title : workflowSlug, workflowSlug };
  return { project: row, board: { projectId: id, customerId, workspaceId, ...names, phases, status, costUsd: '0' } };
}

/** Puts uploaded files beside the project, all of them or none. @throws Problem bad_request */
async function takeUploads(db: Database, projectId: string, customerId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const taken = await db.rows<{ id: string }>(sql`
    update attachments set owner_kind = 'project', owner_id = ${projectId}
    where customer_id = ${customerId} and owner_kind = 'upload' and id = any(${sql.param([...ids])}::uuid[])
      and created_at > now() - ${UPLOAD_TTL_MS} * interval '1 ms'
    returning id`);
  const missing = ids.find((id) => !taken.some((row) => row.id === id));
  if (missing === undefined) return;
  throw new Problem('bad_request', `attachment_ids: ${missing} is no upload that waits for a project`);
}

interface NewTask {
  id: string;
  position: number;
  phase: PhaseSpec;
}

/** A part of the statement that inserts the CTE `project`. */
function insertTasks(tasks: readonly NewTask[]): SQL {
  const rows = tasks.map(({ id, position, phase }) => ({
    id,
    position,
    slug: phase.slug,
    title: phase.title,
    dependsOn: phase.depends_on ?? [],
    cascade: phase.cascade_on_upstream_change ?? 'lazy',
    schemaSlug: phase.artifact?.schema_slug,
    jsonSchema: withPropertyOrder(phase.artifact?.json_schema),
    artifactStep: artifactStep(phase.steps)?.step_slug,
    budget: phase.cost_budget_usd,
  }));
  return sql`
    insert into tasks (id, project_id, customer_id, position, phase_slug, title, depends_on,
      cascade_on_upstream_change, artifact_schema_slug, artifact_json_schema, artifact_step_slug, cost_budget_usd)
    select t.id, project.id, project.customer_id, t.position, t.slug, t.title, t."dependsOn", t.cascade::cascade_mode,
      t."schemaSlug", t."jsonSchema", t."artifactStep", t.budget
    from project, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as t(id uuid, position int, slug text, title text,
      "dependsOn" text[], cascade text, "schemaSlug" text, "jsonSchema" jsonb, "artifactStep" text, budget numeric)`;
}

function insertSubtasks(tasks: readonly NewTask[]): SQL {
  const rows = tasks.flatMap(({ id: taskId, phase }) =>
    phase.steps.map((step, position) => ({
      id: newUuid(),
      taskId,
      position,
      slug: step.step_slug,
      title: step.title ?? step.step_slug,
      kind: step.kind,
      role: step.role,
      assignee: step.assignee,
      instructions: step.instructions,
      tools: step.tools ?? [],
      skills: step.skills ?? [],
      dependsOn: stepDependencies(phase.steps, position),
      outputSchema: step.kind === 'gate' ? undefined : withPropertyOrder(outputSchemaOf(phase, step)),
      effort: step.effort,
      maxAttempts: step.max_attempts ?? DEFAULT_MAX_ATTEMPTS,
      timeoutS: step.timeout_s,
      gateKind: step.gate_kind,
      gateConfig: step.gate_config,
    })),
  );
  return sql`
    insert into subtasks (id, project_id, task_id, customer_id, position, step_slug, title, kind, role, assignee,
      instructions, tools, skills, depends_on, output_schema, effort, max_attempts, timeout_s, gate_kind,
      gate_config)
    select s.id, project.id, s."taskId", project.customer_id, s.position, s.slug, s.title, s.kind::step_kind,
      s.role::step_role, s.assignee, s.instructions, s.tools, s.skills, s."dependsOn", s."outputSchema",
      s.effort, s."maxAttempts", s."timeoutS", s."gateKind"::gate_kind, s."gateConfig"
    from project, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s(id uuid, "taskId" uuid, position int, slug text,
      title text, kind text, role text, assignee text, instructions text, tools text[], skills text[],
      "dependsOn" text[], "outputSchema" jsonb, effort text, "maxAttempts" int, "timeoutS" int, "gateKind" text, "gateConfig" jsonb)`;
}

/**
 * Takes back a project whose workflow could not be started, as if it had never been asked for.
 * @returns false when it has started after all
 */
export async function withdrawProject(db: Database, customerId: string, projectId: string): Promise<boolean> {
  const rows = await db.rows(sql`
    with gone as (
      delete from projects where id = ${projectId} and customer_id = ${customerId} and status = 'planning' returning id
    ), released as (
      update attachments set owner_kind = 'upload' where exists (select 1 from gone)
        and customer_id = ${customerId} and owner_kind = 'project' and owner_id = ${projectId}
    ), uncounted as (
      delete from budgets where exists (select 1 from gone) and (id = ${`project:${projectId}`}
        or id in (select 'task:' || t.id from tasks t where t.project_id = ${projectId}))
    )
    select id from gone`);
  return rows.length > 0;
}

export interface ProjectChanges {
  title?: string | undefined;
  costBudgetUsd?: string | null | undefined;
  /** Budgets by phase slug. */
  phaseBudgetsUsd?: Record<string, string | null> | undefined;
}

/**
 * Changes title and budgets alone, and clears the mark that a warning was given, because nobody was warned about the
 * new budget.
 * @returns false where the project does not exist
 */
export async function updateProject(
  db: Database,
  customerId: string,
  projectId: string,
  { title, costBudgetUsd, phaseBudgetsUsd }: ProjectChanges,
): Promise<boolean> {
  return db.transaction(async () => {
    const hasBudget = costBudgetUsd !== undefined;
    const changed = await db.rows(sql`
      update projects set title = coalesce(${title ?? null}, title), is_titled = is_titled or ${title !== undefined},
        cost_budget_usd = case when ${hasBudget} then ${costBudgetUsd ?? null}::numeric else cost_budget_usd end,
        is_cost_warned = is_cost_warned and not ${hasBudget}
      where id = ${projectId} and customer_id = ${customerId} returning id`);
    if (changed.length === 0) return false;
    if (hasBudget) {
      await db.rows(sql`
        update budgets set limit_usd = ${costBudgetUsd}::numeric
        where id = ${`project:${projectId}`} and customer_id = ${customerId}`);
    }
    if (phaseBudgetsUsd) await updatePhaseBudgets(db, customerId, projectId, phaseBudgetsUsd);
    return true;
  });
}

/** A phase budget is for one start of its phase. Where that start has begun, what it has spent already counts. */
const updatePhaseBudgets = (
  db: Database,
  customerId: string,
  projectId: string,
  budgetsUsd: Record<string, string | null>,
) =>
  db.rows(sql`
    with wanted as (
      select t.id, w.value::numeric as usd, coalesce((
        select sum(a.cost_usd) from attempts a
        where a.task_id = t.id and coalesce(a.started_at, a.created_at) >= t.started_at), 0) as spent
      from jsonb_each_text(${JSON.stringify(budgetsUsd)}::jsonb) w join tasks t on t.phase_slug = w.key
      where t.project_id = ${projectId} and t.customer_id = ${customerId}
    ), planned as (
      update tasks t set cost_budget_usd = w.usd from wanted w where t.id = w.id
    )
    update budgets b set limit_usd = greatest(b.spent_usd - w.spent, 0) + w.usd
    from wanted w where b.id = 'task:' || w.id and b.customer_id = ${customerId}`);
