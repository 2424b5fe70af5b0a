/** Lets a person decide on the plan of an edit session or, before it is enacted, that there is to be none. */
import { sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import type { Actor, PauseReason, PlanDecision, Seen } from '../model.ts';
import type { EditPlan } from '../edit-plans/model.ts';
import { noteProjectEvents, type LockedProject } from '../store/record.ts';
import { requireSeen } from '../store/waits.ts';
import { activate, runCommand } from '../control/run-command.ts';
import type { GateDecision, GateOutcome } from './model.ts';
import { findGate, settleGate, type Gate } from './settle-gate.ts';
import { skipSteps } from '../engine/steps.ts';
import { BUDGET_BREACH } from '../stops/model.ts';
import { DONE } from '../store/statuses.ts';

interface PlanCommand {
  projectId: string;
  /** The phase that is the edit session. */
  taskId: string;
  decision: PlanDecision;
  comment: string | null;
  /** Set where the decision is `edit_plan`; it is enacted instead of what the planner proposed. */
  revisedPlan: EditPlan | null;
  decidedBy: string;
  actor: Actor;
  commandId: string;
  /** Set for an answer in the inbox. */
  seen?: Seen | undefined;
}

const EFFECTS = {
  approved: 'pass',
  edit_plan: 'pass',
  rejected: 'skip',
  request_changes: 'rework',
} as const satisfies Record<PlanDecision, GateDecision['effect']>;

/** @throws Problem not_found, gate_not_waiting, already_answered, changed_since */
export const resolveEditPlan = (
  db: Database,
  { projectId, taskId, decision, comment, revisedPlan, decidedBy, actor, commandId, seen }: PlanCommand,
): Promise<GateOutcome<'resolved' | 'discarded'>> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const gate = found(await findGate(db, projectId, { sessionId: taskId }));
    // An answer in the inbox was given to a waiting plan, so it does not discard a session whose plan no longer waits.
    if (decision === 'rejected' && gate.status !== 'blocked' && !seen) {
      return discard(db, project, gate, { comment, decidedBy, actor });
    }
    await requireSeen(db, project, gate.id, seen);
    const effect = EFFECTS[decision];
    return settleGate(db, project, gate, {
      output: {
        decision: effect === 'pass' ? 'approved' : 'rejected',
        plan_decision: decision,
        decided_by: decidedBy,
        comment,
        payload: null,
        ...(decision === 'edit_plan' && { revised_plan: revisedPlan }),
      },
      actor,
      effect,
      via: seen?.via,
    });
  });

interface Discarding {
  comment: string | null;
  decidedBy: string;
  actor: Actor;
}

async function discard(
  db: Database,
  project: LockedProject,
  { id: gateId, taskId, phaseSlug }: Gate,
  { comment, decidedBy, actor }: Discarding,
): Promise<GateOutcome<'discarded'>> {
  const session = first(
    await db.rows<{ isOver: boolean; isEnacted: boolean }>(sql`
    select t.status in ${DONE} or (
      gate.status = 'succeeded' and gate.gate_output ->> 'decision' is not distinct from 'rejected') as "isOver", exists (
      select 1 from subtasks s join project_commands c on c.project_id = s.project_id
      where s.task_id = t.id and starts_with(c.command_id, 'enact:' || s.id || ':') and c.result is not null) as "isEnacted"
    from tasks t join subtasks gate on gate.id = ${gateId}::uuid where t.id = ${taskId}::uuid`),
  );
  if (session.isOver) throw new Problem('gate_not_waiting', 'the edit session is over');
  if (session.isEnacted) throw new Problem('gate_not_waiting', 'the plan of the edit session is enacted');

  const isCause = await hasStopped(db, project, taskId);
  const output = { decision: 'rejected', plan_decision: 'rejected', decided_by: decidedBy, comment, payload: null };
  await db.rows(sql`
    update subtasks set gate_output = ${JSON.stringify({ ...output, decided_at: new Date().toISOString() })}::jsonb,
      answered_by = ${JSON.stringify(actor)}::jsonb
    where id = ${gateId}::uuid`);
  await skipSteps(db, project, taskId, { actor, reason: 'the edit session was rejected' });
  await db.rows(sql`
    update tasks set status = 'skipped', completed_at = now(), on_end = null where id = ${taskId}::uuid`);
  const payload = { phase_slug: phaseSlug, reason: 'rejected', decided_by: decidedBy, comment };
  await noteProjectEvents(db, project, [{ topic: 'task_skipped', taskId, actor, payload }]);

  if (isCause) await activate(db, project, actor, { resumed: true, discarded: phaseSlug });
  return { outcome: 'discarded', change: { slug: phaseSlug, status: 'skipped' }, reactivated: isCause };
}

/** A step that failed, or that a budget held back, stops its project for these reasons, and a person or nothing for others. */
const STOPPED_BY_STEP: Readonly<Record<PauseReason, boolean>> = {
  requested: false,
  subtask_failed: true,
  gate_rejected: true,
  gate_misconfigured: true,
  budget_breached: true,
  repeat_crash: true,
  nonidempotent_crash: true,
  nothing_dispatchable: true,
  gate_expired: false,
};

/** @returns whether steps of this phase, and no others, are what stopped the project */
async function hasStopped(db: Database, { id, status, pauseReason }: LockedProject, taskId: string): Promise<boolean> {
  if (status !== 'paused' || pauseReason === null || !STOPPED_BY_STEP[pauseReason]) return false;
  const { isCause } = first(
    await db.rows<{ isCause: boolean }>(sql`
    select coalesce(bool_and(s.task_id = ${taskId}::uuid), false) as "isCause"
    from subtasks s where s.project_id = ${id} and (s.status = 'failed' or s.status = 'pending' and (
      select r.error_code from attempts a join runs r on r.id = a.child_run_id
      where a.subtask_id = s.id order by a.attempt_number desc limit 1) = ${BUDGET_BREACH.runError})`),
  );
  return isCause;
}
