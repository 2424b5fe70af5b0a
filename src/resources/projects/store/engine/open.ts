/** Records how a phase begins and ends. */
import { sql, type SQL } from 'drizzle-orm';
import { last, present } from '../../../../platform/core/present.ts';
import type { Database } from '../../../../platform/db/client.ts';
import {
  isDone,
  isInFlight,
  SYSTEM,
  type PhaseEnding,
  type PhaseOpening,
  type PhaseRef,
  type StepRef,
  type TaskStatus,
} from '../../model.ts';
import { startAnew } from '../commands/backtrack.ts';
import { insertEvents, lockProject, noteProjectEvents, type LockedProject, type NewProjectEvent } from '../record.ts';
import { promote, PROMOTABLE, type Promotable } from './promote.ts';

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

const TASK = sql`
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

interface EndingTask extends LockedTask, Promotable {
  /** US dollars that the project has spent. */
  projectCostUsd: string;
  /**
   * What the phase has made was made from something else than what its upstream phases have now, or are about to have:
   * another version, one that became stale since, or one of a phase that runs again. Changes that were to spare it do
   * not count. It is decided by what its attempts were given, whatever lay between.
   */
  isOutdated: boolean;
}

/** Loads everything by which the end of a phase is decided. */
async function loadEnding(db: Database, { projectId, taskId }: PhaseRef): Promise<EndingTask | undefined> {
  const [task] = await db.rows<EndingTask & { steps: NamedStep[] }>(sql`
    with given as (
      select latest.consumed from subtasks s cross join lateral (
        select a.consumed from attempts a where a.subtask_id = s.id and a.status = 'succeeded'
        order by a.attempt_number desc limit 1) latest
      where s.task_id = ${taskId}::uuid and s.status = 'succeeded' and latest.consumed is not null
    ), upstream as (
      select u.phase_slug as slug, u.status, (
        select a.version from artifacts a where a.task_id = u.id and not a.superseded) as version
      from tasks t join tasks u on u.project_id = t.project_id and u.phase_slug = any(t.depends_on)
      where t.id = ${taskId}::uuid and not u.phase_slug = any(t.spared)
    )
    select ${TASK}, ${PROMOTABLE},
      coalesce((select b.spent_usd from budgets b where b.id = ${`project:${projectId}`}), 0)::text as "projectCostUsd",
      exists (
        select 1 from upstream u where u.status not in ('succeeded', 'skipped', 'stale') or exists (
          select 1 from given g where (g.consumed -> u.slug ->> 'version')::int is distinct from u.version
            or (u.status = 'stale' and not coalesce((g.consumed -> u.slug ->> 'isStale')::boolean, false)))
      ) as "isOutdated"
    from tasks t where t.id = ${taskId}::uuid and t.project_id = ${projectId}`);
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
type NamedStep = Omit<StepRef, 'dependsOn'> & { dependsOn: string[] };

function inOrder(rows: readonly NamedStep[]): StepRef[] {
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

/** Is called when no step of the phase is under way any more. */
export const closePhase = (db: Database, ref: PhaseRef): Promise<PhaseEnding> =>
  db.transaction(async () => closeLocked(db, await lockProject(db, ref.projectId), ref));

/** Does the same in the transaction that settled its last step. */
export async function closeLocked(db: Database, project: LockedProject, ref: PhaseRef): Promise<PhaseEnding> {
  const task = await loadEnding(db, ref);
  if (!task) return { kind: 'superseded' };
  const { steps, projectCostUsd: costUsd } = task;
  if (task.iteration === ref.iteration && !isInFlight(task.status) && project.status !== 'abandoned') {
    return { kind: 'ended', status: task.status, changes: [], costUsd }; // The activity is repeated.
  }
  if (isOvertaken(project, task, ref)) return { kind: 'superseded' };
  const isFailed = steps.some(({ status }) => status === 'failed');
  if (!isFailed && !steps.every(({ status }) => isDone(status))) return { kind: 'more', steps };
  if (isFailed) {
    // Nothing starts beside a failed step. What is pending runs when the phase starts again.
    await db.rows(setTaskEnd(task.id, 'failed'));
    return { kind: 'ended', status: 'failed', changes: [], costUsd };
  }
  const status = await succeed(db, project, task);
  return { kind: 'ended', status, changes: [], costUsd };
}

async function succeed(db: Database, project: LockedProject, task: EndingTask): Promise<TaskStatus> {
  const about = { taskId: task.id, payload: { phase_slug: task.phaseSlug } };
  const end = (status: TaskStatus, events: readonly NewProjectEvent[], more = sql``) =>
    db.rows(sql`with ended as (${setTaskEnd(task.id, status)}) ${more} ${insertEvents(project, events)}`);
  // An edit session whose plan was turned down ends without having changed anything.
  if (last(task.steps).status === 'skipped') {
    await end('skipped', [{ topic: 'task_skipped', ...about }]);
    return 'skipped';
  }
  const promoted = await promote(db, task);
  const promotion = promoted ? [promoted.event] : [];
  if (task.isOutdated && task.onEnd === 'rerun') {
    if (promoted) await db.rows(sql`with made as (${promoted.insert}) ${insertEvents(project, promotion)}`);
    await startAnew(db, project, [task.id], { reason: 'cascade_retrigger', addendum: null, actor: SYSTEM });
    await noteProjectEvents(db, project, [
      { topic: 'phase_retriggered', ...about, payload: { phase_slug: task.phaseSlug, cascade: 'strict' } },
    ]);
    return 'pending';
  }
  const status = task.isOutdated || task.onEnd === 'stale' ? 'stale' : 'succeeded';
  const events: NewProjectEvent[] = [
    ...promotion,
    { topic: 'task_succeeded', ...about, payload: { phase_slug: task.phaseSlug, ...promoted?.version } },
    ...(status === 'stale' ? [{ topic: 'task_stale' as const, ...about }] : []),
  ];
  await end(status, events, promoted && sql`, made as (${promoted.insert})`);
  return status;
}

const setTaskEnd = (taskId: string, status: TaskStatus): SQL => sql`
  update tasks set status = ${status}::task_status, completed_at = now(),
    -- What was promised of one that failed holds for it when it is retried.
    on_end = case when ${status} = 'failed' then on_end end
  where id = ${taskId}::uuid`;
