/** Records how a phase begins, and how it looks from its steps. */
import { sql, type SQL } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import {
  isGoing,
  isInFlight,
  isTerminal,
  type PhaseOpening,
  type PhaseReading,
  type PhaseRef,
  type StepRef,
  type TaskStatus,
} from '../model.ts';
import { insertEvents, pausedAnswer, type LockedProject } from '../store/record.ts';
import { askApprovalsAgain } from '../decisions/approvals.ts';
import { IS_APPROVED } from './consumed.ts';
import { PHASES_BEFORE_ARE_DONE } from '../store/ready.ts';
import { IN_FLIGHT } from '../store/statuses.ts';

export interface LockedTask {
  id: string;
  phaseSlug: string;
  status: TaskStatus;
  iteration: number;
  onEnd: 'rerun' | null;
  steps: NamedStep[];
}

/** Columns of a task `t`. */
export const TASK = sql`
  t.id, t.phase_slug as "phaseSlug", t.status, t.iteration, t.on_end as "onEnd", (
    select coalesce(jsonb_agg(jsonb_build_object('subtaskId', s.id, 'slug', s.step_slug, 'kind', s.kind, 'role', s.role,
      'status', s.status, 'dependsOn', s.depends_on) order by s.position), '[]')
    from subtasks s where s.task_id = t.id) as steps`;

async function loadTask(db: Database, { projectId, taskId }: PhaseRef): Promise<LockedTask | undefined> {
  const [task] = await db.rows<LockedTask>(sql`
    select ${TASK} from tasks t where t.id = ${taskId}::uuid and t.project_id = ${projectId}`);
  return task;
}

/** @returns whether this start of the phase may no longer write */
export const isOvertaken = (
  { status }: Pick<LockedProject, 'status'>,
  task: Pick<LockedTask, 'iteration' | 'status'> | undefined,
  { iteration }: PhaseRef,
): boolean => status === 'abandoned' || task === undefined || task.iteration !== iteration || !isInFlight(task.status);

/** @param granted says that a step may run although the project is paused */
export async function openPhase(
  db: Database,
  project: LockedProject,
  ref: PhaseRef,
  granted: boolean,
): Promise<PhaseOpening> {
  const { status } = project;
  const mayOpen = isGoing(status) || (status === 'paused' && granted);
  const opened = mayOpen ? await openPending(db, ref) : undefined;
  if (opened) return { kind: 'opened', steps: inOrder(opened.steps) };
  const task = await loadTask(db, ref);
  if (!task || task.iteration > ref.iteration || isTerminal(status)) {
    return { kind: 'superseded' };
  }
  // This is a repeat, or the same start after it continued as new.
  if (task.iteration === ref.iteration) {
    return isInFlight(task.status) ? { kind: 'opened', steps: inOrder(task.steps) } : { kind: 'superseded' };
  }
  if (task.status !== 'pending') return { kind: 'superseded' };
  if (!mayOpen) return pausedAnswer(project);
  await askApprovalsAgain(db, project, task.id);
  return { kind: 'not_yet' };
}

/** Reads how a phase under way looks by its record. */
export async function readPhase(db: Database, ref: PhaseRef): Promise<PhaseReading> {
  const [project] = await db.rows<Pick<LockedProject, 'status'>>(sql`
    select status from projects where id = ${ref.projectId}`);
  const task = await loadTask(db, ref);
  if (!task || !project || isOvertaken(project, task, ref)) return { kind: 'superseded' };
  return { kind: 'current', steps: inOrder(task.steps) };
}

/**
 * Begins this start of a phase that is pending, that was not started as often yet, and before which every phase is done:
 * one of them may run again since the project decided to start this one.
 */
async function openPending(db: Database, { projectId, taskId, iteration }: PhaseRef): Promise<LockedTask | undefined> {
  const event = { topic: 'task_started' as const, taskId, payload: { start: iteration } };
  const about = sql`jsonb_build_object('phase_slug', of_project.phase_slug, 'title', of_project.title,
    'reason', of_project.next_reason)`;
  const [task] = await db.rows<LockedTask>(sql`
    with opened as (
      update tasks t set status = 'running', iteration = ${iteration}, started_at = now(), completed_at = null
      where id = ${taskId}::uuid and project_id = ${projectId} and status = 'pending' and iteration < ${iteration}
        and ${PHASES_BEFORE_ARE_DONE} and ${IS_APPROVED}
      returning *
    ), allowance as (
      -- A phase budget is for one start of the phase: what earlier ones spent does not count.
      update budgets b set limit_usd = b.spent_usd + t.cost_budget_usd
      from opened t where t.cost_budget_usd is not null and b.id = 'task:' || t.id
    ), told as (${insertEvents(
      sql`(select project_id as id, customer_id, phase_slug, title, next_reason from opened)`,
      [event],
      about,
    )})
    select ${TASK} from opened t`);
  return task;
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
    where t.id = ${taskId}::uuid and t.status in ${IN_FLIGHT} and t.status <> now_is.status`;
};
