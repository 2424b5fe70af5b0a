/** Reads and resets the steps of one phase, for commands that send some of them back. */
import { sql } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { StepRole, StepKind } from '../../templates/model.ts';
import type { Actor, AttemptReason, TaskStatus } from '../model.ts';
import { noteProjectEvents, type LockedProject, type NewProjectEvent } from '../store/record.ts';
import { OPEN_ATTEMPT } from '../store/statuses.ts';

export interface Step {
  id: string;
  slug: string;
  kind: StepKind;
  role: StepRole;
  status: TaskStatus;
  dependsOn: string[];
}

export const listSteps = (db: Database, taskId: string): Promise<Step[]> =>
  db.rows<Step>(sql`
    select id, step_slug as slug, kind, role, status, depends_on as "dependsOn"
    from subtasks where task_id = ${taskId}::uuid order by position`);

/** @returns all steps that consume the output of this one, however far away */
export function downstreamOf(steps: readonly Step[], slug: string): Step[] {
  const reached = new Set([slug]);
  for (let before = 0; before < reached.size;) {
    before = reached.size;
    for (const step of steps) if (step.dependsOn.some((each) => reached.has(each))) reached.add(step.slug);
  }
  return steps.filter((step) => step.slug !== slug && reached.has(step.slug));
}

/**
 * @returns the producer whose work this step judges and that can do better: the nearest agent before it. An action makes
 * the same of the same work, so it is the producer only where no agent is before it.
 */
export function producerBefore(steps: readonly Step[], slug: string): Step | undefined {
  const bySlug = new Map(steps.map((step) => [step.slug, step]));
  let action: Step | undefined;
  let level = [...present(bySlug.get(slug)).dependsOn];
  for (const seen = new Set(level); level.length > 0;) {
    const producers = level
      .map((each) => present(bySlug.get(each)))
      .filter(({ role, kind }) => (role === 'producer' || role === 'assembler') && kind !== 'gate');
    const agent = producers.findLast(({ kind }) => kind === 'agent');
    if (agent) return agent;
    action ??= producers.at(-1);
    level = level.flatMap((each) => present(bySlug.get(each)).dependsOn).filter((each) => !seen.has(each));
    for (const each of level) seen.add(each);
  }
  return action;
}

/**
 * Sends steps back to run again, including one that is under way, because its result would be about the old work. A
 * step that has not run stays as it is, and so does one with which only a person may go on.
 * @param isAttended says that a person asked for it, so that the steps have all their attempts again
 * @returns those that are pending again
 */
export async function resetSteps(
  db: Database,
  steps: readonly Step[],
  reason: AttemptReason,
  isAttended = true,
): Promise<string[]> {
  const used = isAttended ? sql`0` : sql`attempts_used`;
  const rows = await db.rows<{ id: string }>(sql`
    update subtasks set status = 'pending', attempts_used = ${used}, crashes = 0, error = null, completed_at = null,
      next_reason = case when kind = 'gate' then null else ${reason}::attempt_reason end
    where id = any(${sql.param(steps.map(({ id }) => id))}::uuid[]) and status <> 'pending' and not is_outcome_unknown
    returning id`);
  return rows.map(({ id }) => id);
}

/**
 * Ends what is left of a phase that somebody ended. Attempts under way end as failed, whatever result they still
 * report.
 */
export async function skipSteps(
  db: Database,
  project: LockedProject,
  taskId: string,
  { actor, reason }: { actor: Actor; reason: string },
): Promise<void> {
  await db.rows(sql`
    update attempts set status = 'failed', error = ${reason}, completed_at = now()
    where task_id = ${taskId}::uuid and status in ${OPEN_ATTEMPT}`);
  const skipped = await db.rows<{ id: string; slug: string; wasUnknown: boolean; phaseSlug: string }>(sql`
    with left_over as (
      select id, is_outcome_unknown from subtasks
      where task_id = ${taskId}::uuid and status not in ('succeeded', 'skipped') for update
    )
    update subtasks s set status = 'skipped', completed_at = now(), is_outcome_unknown = false
    from left_over l, tasks t where s.id = l.id and t.id = s.task_id
    returning s.id, s.step_slug as slug, l.is_outcome_unknown as "wasUnknown", t.phase_slug as "phaseSlug"`);
  await noteProjectEvents(
    db,
    project,
    skipped.flatMap(({ id, slug, wasUnknown, phaseSlug }) => {
      const about = { taskId, subtaskId: id, actor, payload: { phase_slug: phaseSlug, step_slug: slug, reason } };
      const skip: NewProjectEvent = { topic: 'subtask_skipped', ...about };
      return wasUnknown ? [{ topic: 'nonidempotent_crash_resolved', ...about }, skip] : [skip];
    }),
  );
}
