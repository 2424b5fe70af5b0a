/** Records how a phase begins, and how it looks from its steps. */
import { sql, type SQL } from 'drizzle-orm';
import { present } from '../../../../platform/core/present.ts';
import type { Database } from '../../../../platform/db/client.ts';
import { isInFlight, type PhaseOpening, type PhaseRef, type StepRef, type TaskStatus } from '../../model.ts';
import { insertEvents, type LockedProject } from '../record.ts';

export interface LockedTask {
  id: string;
  phaseSlug: string;
  title: string;
  status: TaskStatus;
  iteration: number;
  /** Slugs of the phases before it. */
  dependsOn: string[];
  onEnd: 'stale' | 'rerun' | null;
  /** The reason that its next attempts have. */
  nextReason: string;
  steps: StepRef[];
}

/** Columns of a task `t`. */
export const TASK = sql`
  t.id, t.phase_slug as "phaseSlug", t.title, t.status, t.iteration, t.depends_on as "dependsOn", t.on_end as "onEnd",
  t.next_reason as "nextReason", (
    select coalesce(jsonb_agg(jsonb_build_object('subtaskId', s.id, 'slug', s.step_slug, 'kind', s.kind, 'role', s.role,
      'status', s.status, 'dependsOn', s.depends_on) order by s.position), '[]')
    from subtasks s where s.task_id = t.id) as steps`;

async function loadTask(db: Database, { projectId, taskId }: PhaseRef): Promise<LockedTask | undefined> {
  const [task] = await db.rows<LockedTask & { steps: NamedStep[] }>(sql`
    select ${TASK} from tasks t where t.id = ${taskId}::uuid and t.project_id = ${projectId}`);
  return task && { ...task, steps: inOrder(task.steps) };
}

/** @returns whether this start of the phase may no longer write */
export const isOvertaken = (
  { status }: Pick<LockedProject, 'status'>,
  task: Pick<LockedTask, 'iteration' | 'status'> | undefined,
  { iteration }: PhaseRef,
): boolean => status === 'abandoned' || task === undefined || task.iteration !== iteration || !isInFlight(task.status);

/** @param granted names the step that may run although the project is paused */
export async function openPhase(
  db: Database,
  project: LockedProject,
  ref: PhaseRef,
  granted: boolean,
): Promise<PhaseOpening> {
  const task = await loadTask(db, ref);
  if (!task || task.iteration > ref.iteration || project.status === 'abandoned' || project.status === 'completed') {
    return { kind: 'superseded' };
  }
  // This is a repeat, or the same start after it continued as new.
  if (task.iteration === ref.iteration) {
    return isInFlight(task.status) ? { kind: 'opened', steps: task.steps } : { kind: 'superseded' };
  }
  if (task.status !== 'pending') return { kind: 'superseded' };
  if (project.status === 'paused' && !granted) return { kind: 'paused' };
  const payload = { phase_slug: task.phaseSlug, title: task.title, start: ref.iteration, reason: task.nextReason };
  await db.rows(sql`
    with allowance as (
      -- A phase budget is for one start of the phase: what earlier ones spent does not count.
      update budgets b set limit_usd = b.spent_usd + t.cost_budget_usd
      from tasks t where t.id = ${task.id}::uuid and t.cost_budget_usd is not null and b.id = 'task:' || t.id
    ), opened as (
      update tasks set status = 'running', iteration = ${ref.iteration}, started_at = now(), completed_at = null
      where id = ${task.id}::uuid
    )
    ${insertEvents(project, [{ topic: 'task_started', taskId: task.id, payload }])}`);
  return { kind: 'opened', steps: task.steps };
}

/** A step of a phase, with what it waits for by name. */
export type NamedStep = Omit<StepRef, 'dependsOn'> & { dependsOn: string[] };

export function inOrder(rows: readonly NamedStep[]): StepRef[] {
  const positions = new Map(rows.map(({ slug }, position) => [slug, position]));
  return rows.map((row) => ({ ...row, dependsOn: row.dependsOn.map((slug) => present(positions.get(slug))) }));
}

export async function listSteps(db: Database, taskId: string): Promise<StepRef[]> {
  const rows = await db.rows<NamedStep>(sql`
    select id as "subtaskId", step_slug as slug, kind, role, status, depends_on as "dependsOn"
    from subtasks where task_id = ${taskId}::uuid order by position`);
  return inOrder(rows);
}

/** Sets the status of a task in flight from what its steps are doing. */
export async function updateTaskStatus(db: Database, taskId: string): Promise<void> {
  await db.rows(setTaskStatus(taskId));
}

/** Does the same as a part of the statement that moves one of its steps, whose new status it cannot see yet. */
export const setTaskStatus = (taskId: string, moving?: { subtaskId: string; to: TaskStatus }): SQL => {
  const status = moving
    ? sql`case when id = ${moving.subtaskId}::uuid then ${moving.to}::task_status else status end`
    : sql`status`;
  return sql`
    update tasks t set status = now_is.status
    from (
      select case
        when bool_or(s.status = 'running' and s.role not in ('reviewer', 'tester')) then 'running'
        when bool_or(s.status = 'running') then 'review'
        when bool_or(s.status = 'blocked') then 'blocked'
        else 'running' end::task_status as status
      from (select ${status} as status, role from subtasks where task_id = ${taskId}::uuid) s
    ) now_is
    where t.id = ${taskId}::uuid and t.status in ('running', 'blocked', 'review') and t.status <> now_is.status`;
};
