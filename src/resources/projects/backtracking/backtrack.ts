/** Makes phases run again, and does what a changed artifact does downstream, inside a command's transaction. */
import { sql } from 'drizzle-orm';
import type { RetriggerResult } from '../../../../workflows/project/messages.ts';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { sparedWith, whenRunAgain, whenStale, type Provenance, type Upstream } from '../freshness.ts';
import { PROVENANCE, VERSIONS } from '../engine/consumed.ts';
import { planCascade, type CascadePhase, type CascadePlan } from './cascade.ts';
import { isInFlight, type Actor, type AttemptReason, type Cascade, type PhaseChange } from '../model.ts';
import { noteProjectEvents, type LockedProject, type NewProjectEvent } from '../store/record.ts';
import { skipSteps } from '../engine/steps.ts';

export interface Phase extends CascadePhase, Upstream, Provenance {
  taskId: string;
}

/** @returns the phases in pipeline order, without edit sessions, which make nothing that others consume */
export const listPhases = (db: Database, projectId: string): Promise<Phase[]> =>
  db.rows<Phase>(sql`
    select t.id as "taskId", t.phase_slug as slug, t.depends_on as "dependsOn", t.status,
      t.cascade_on_upstream_change as mode, ${VERSIONS}, ${PROVENANCE}
    from tasks t where t.project_id = ${projectId} and t.task_kind = 'regular' order by t.position`);

export interface Retrigger {
  phases: readonly Phase[];
  phase: Phase;
  addendum: string | null;
  cascade: Cascade;
  reason: AttemptReason;
  actor: Actor;
}

/** Makes a phase that has ended run again. */
export async function retrigger(
  db: Database,
  project: LockedProject,
  { phases, phase, addendum, cascade, reason, actor }: Retrigger,
): Promise<RetriggerResult & { changes: PhaseChange[] }> {
  const { markStale, rerun, affected } = planCascade(phases, phase.slug, cascade);
  const again = [phase, ...phases.filter(({ slug }) => rerun.includes(slug))].map(({ taskId }) => taskId);
  const result: RetriggerResult = {
    cascade,
    affected_phase_slugs: affected,
    marked_stale: markStale,
    auto_retriggered: rerun,
    cost_estimate_usd: await lastCost(db, again),
  };
  await startAnew(db, project, [phase.taskId], { reason, addendum, actor });
  const payload = { phase_slug: phase.slug, addendum: addendum !== null, ...result };
  await noteProjectEvents(db, project, [{ topic: 'phase_retriggered', taskId: phase.taskId, actor, payload }]);
  const change = { phases, changed: phase.slug, version: phase.nextVersion, cascade, actor };
  const { changes } = await cascadeFrom(db, project, change);
  return { ...result, changes: [{ slug: phase.slug, status: 'pending' }, ...changes] };
}

interface Change {
  /** As they were before the change. */
  phases: readonly Phase[];
  changed: string;
  /** The version that the changed phase has now, or is about to make. */
  version: number | null;
  cascade: Cascade;
  actor: Actor;
}

/** Applies the plan of `planCascade` to the phases downstream. */
export async function cascadeFrom(
  db: Database,
  project: LockedProject,
  { phases, changed, version, cascade, actor }: Change,
): Promise<{ plan: CascadePlan; changes: PhaseChange[] }> {
  const plan = planCascade(phases, changed, cascade);
  const among = (slugs: readonly string[]) => phases.filter(({ slug }) => slugs.includes(slug));
  const stale = among(plan.markStale).filter(({ status }) => status === 'succeeded');
  const ended = among(plan.rerun).filter(({ status }) => !isInFlight(status));
  await db.rows(sql`
    update tasks set status = 'stale' where id = any(${sql.param(idsOf(stale))}::uuid[])`);
  const touched = among([...plan.reached, ...plan.skipped]).filter(({ slug }) => slug !== changed);
  await db.rows(sql`
    update tasks set outdated_by = ${JSON.stringify(actor)}::jsonb where id = any(${sql.param(idsOf(touched))}::uuid[])`);
  await startAnew(db, project, idsOf(ended), { reason: 'cascade_retrigger', addendum: null, actor });
  // Phases under way finish with the versions with which they began. Whether those are outdated is decided when they
  // end.
  const underWay = among(plan.rerun).filter(({ status }) => isInFlight(status));
  await db.rows(sql`update tasks set on_end = 'rerun' where id = any(${sql.param(idsOf(underWay))}::uuid[])`);
  const has = new Map([
    ...among(plan.rerun).map((phase) => [phase.slug, whenRunAgain(phase)] as const),
    ...among(plan.markStale).map((phase) => [phase.slug, whenStale(phase)] as const),
    [changed, { version, isStale: false }] as const,
  ]);
  for (const phase of among(plan.skipped)) await spare(db, phase, has);
  const events: NewProjectEvent[] = stale.map(({ taskId, slug }) => ({
    topic: 'task_stale',
    taskId,
    actor,
    payload: { phase_slug: slug, changed },
  }));
  if (plan.skipped.length > 0) {
    events.push({ topic: 'cascade_skipped', actor, payload: { changed, phase_slugs: plan.skipped } });
  }
  await noteProjectEvents(db, project, events);
  return {
    plan,
    changes: [
      ...stale.map(({ slug }) => ({ slug, status: 'stale' as const })),
      ...ended.map(({ slug }) => ({ slug, status: 'pending' as const })),
    ],
  };
}

/** The phase stays as it is, whatever these changes make of those before it. */
const spare = (db: Database, phase: Phase, has: Parameters<typeof sparedWith>[1]) =>
  db.rows(sql`
    update tasks set spared_for = ${JSON.stringify(sparedWith(phase, has))}::jsonb where id = ${phase.taskId}::uuid`);

const idsOf = (phases: readonly Phase[]): string[] => phases.map(({ taskId }) => taskId);

/**
 * Puts every step of these phases back to where it was before their first start; attempts and artifacts stay in
 * history.
 */
export async function startAnew(
  db: Database,
  project: LockedProject,
  taskIds: readonly string[],
  { reason, addendum, actor }: { reason: AttemptReason; addendum: string | null; actor: Actor },
): Promise<void> {
  const ids = sql`${sql.param([...taskIds])}::uuid[]`;
  const resolved = await db.rows<{ taskId: string; subtaskId: string }>(sql`
    with unknown as (
      select id, task_id from subtasks where task_id = any(${ids}) and is_outcome_unknown
    ), task as (
      update tasks set status = 'pending', next_reason = ${reason}::attempt_reason, completed_at = null, on_end = null,
        spared_for = '{}', outdated_by = null,
        addenda = case when ${addendum}::text is null then addenda else addenda || ${addendum}::text end
      where id = any(${ids})
    ), step as (
      update subtasks set status = 'pending', attempts_used = 0, crashes = 0, feedback = '{}', addendum = null,
        next_reason = null, gate_output = null, expiries = 0, error = null, is_outcome_unknown = false, completed_at = null
      where task_id = any(${ids})
    )
    select task_id as "taskId", id as "subtaskId" from unknown`);
  await noteProjectEvents(
    db,
    project,
    resolved.map((about) => ({ topic: 'nonidempotent_crash_resolved', ...about, actor, payload: { reason } })),
  );
}

/** Adds instructions for a phase that has yet to begin. */
export const addAddendum = (db: Database, taskId: string, addendum: string) =>
  db.rows(sql`update tasks set addenda = addenda || ${addendum}::text where id = ${taskId}::uuid`);

/** @returns US dollars that the latest start of each of these phases cost */
async function lastCost(db: Database, taskIds: readonly string[]): Promise<string> {
  const { usd } = first(
    await db.rows<{ usd: string }>(sql`
    select trim_scale(coalesce(sum(a.cost_usd), 0))::text as usd
    from tasks t join attempts a on a.task_id = t.id and coalesce(a.started_at, a.created_at) >= t.started_at
    where t.id = any(${sql.param([...taskIds])}::uuid[])`),
  );
  return usd;
}

/** A phase whose artifact a person chose is up to date by that choice, also where it was stale or had failed. */
export async function settleByHand(
  db: Database,
  project: LockedProject,
  { taskId, slug, status }: Phase,
  actor: Actor,
): Promise<PhaseChange[]> {
  if (status !== 'stale' && status !== 'failed') return [];
  await db.rows(sql`
    update tasks set status = 'succeeded', completed_at = now(), on_end = null where id = ${taskId}::uuid`);
  if (status === 'failed') {
    await skipSteps(db, project, taskId, { actor, reason: 'its artifact was chosen by hand' });
    await noteProjectEvents(db, project, [
      { topic: 'task_succeeded', taskId, actor, payload: { phase_slug: slug, by_hand: true } },
    ]);
  }
  return [{ slug, status: 'succeeded' }];
}
