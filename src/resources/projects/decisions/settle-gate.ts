/** Applies a decision to a waiting gate, to the steps around it and to its project, inside a command's transaction. */
import { sql } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import { GATE_KIND_RULES } from '../../templates/gates/kinds/model.ts';
import type { GateKind } from '../../templates/model.ts';
import { MAX_EXPIRIES, type Actor, type Decision, type PlanDecision, type TaskStatus, type Way } from '../model.ts';
import type { GateDecision, GateOutcome } from './model.ts';
import { shownBy } from '../engine/consumed.ts';
import { setTaskStatus, updateTaskStatus } from '../engine/open.ts';
import { insertEvents, noteProjectEvents, pauseLocked, type LockedProject } from '../store/record.ts';
import { settleWait } from '../store/waits.ts';
import { activate } from '../control/run-command.ts';
import { downstreamOf, listSteps, producerBefore, resetSteps, skipSteps, type Step } from '../engine/steps.ts';

export interface Gate {
  id: string;
  slug: string;
  status: TaskStatus;
  gateKind: GateKind;
  gateConfig: Record<string, unknown> | null;
  taskId: string;
  phaseSlug: string;
  /** The gate approves the plan of an edit session. Turning that plan down is a regular end and no failure. */
  isPlanApproval: boolean;
  /** How many times in a row the gate ran out of time without an answer. */
  expiries: number;
}

/** Finds a gate by its own id, or by the id of the edit session that it belongs to. */
export async function findGate(
  db: Database,
  projectId: string,
  { subtaskId, sessionId }: { subtaskId?: string; sessionId?: string },
): Promise<Gate | undefined> {
  const which = subtaskId
    ? sql`s.id = ${subtaskId}::uuid`
    : sql`t.id = ${present(sessionId)}::uuid and t.task_kind = 'edit_session'`;
  const [gate] = await db.rows<Gate>(sql`
    select s.id, s.step_slug as slug, s.status, s.gate_kind as "gateKind", s.gate_config as "gateConfig",
      t.id as "taskId", t.phase_slug as "phaseSlug", t.task_kind = 'edit_session' as "isPlanApproval", s.expiries
    from subtasks s join tasks t on t.id = s.task_id
    where s.project_id = ${projectId} and s.kind = 'gate' and ${which}`);
  return gate;
}

/** The output of a gate without the time of the decision. */
type GateOutput = { decision: Decision; decided_by: string; comment: string | null } & Record<string, unknown>;

const WORDS = {
  approved: 'approve',
  rejected: 'reject',
  request_changes: 'request_changes',
  edit_plan: 'apply',
} as const satisfies Record<Decision | PlanDecision, string>;

/** @returns the name that the inbox gives this answer */
const answerIn = ({ isPlanApproval }: Gate, output: GateOutput): string =>
  isPlanApproval && output.decision === 'approved'
    ? 'apply'
    : WORDS[(output['plan_decision'] as PlanDecision | undefined) ?? output.decision];

/** @returns the way by which a decision of this actor came, where nothing else is known */
export const wayOf = ({ kind }: Actor): Way =>
  kind === 'system' ? 'timeout' : kind === 'external' ? 'signal' : 'elsewhere';

export const onReject = (config: Record<string, unknown> | null) =>
  config?.['on_reject'] === 'rework' ? 'rework' : 'fail';

/**
 * @param ruling.effect `rework` becomes `fail` where no step before the gate could do the work again
 * @param ruling.isExpired the gate's time ran out without an answer
 * @param ruling.via says the way by which the decision came, where it is not the usual one of the actor
 * @throws Problem gate_not_waiting
 */
export async function settleGate(
  db: Database,
  project: LockedProject,
  gate: Gate,
  ruling: Pick<GateDecision, 'effect'> & {
    output: GateOutput;
    actor: Actor;
    isExpired?: boolean;
    via?: Way | undefined;
  },
): Promise<GateOutcome<'resolved'>> {
  const { output, actor, effect: wanted, isExpired = false, via = wayOf(actor) } = ruling;
  requireWaiting(gate);
  const { decision, decided_by: decidedBy, comment } = output;
  const steps = wanted === 'rework' ? await listSteps(db, gate.taskId) : [];
  const producer = wanted === 'rework' ? producerBefore(steps, gate.slug) : undefined;
  const effect = wanted === 'rework' && !producer ? 'fail' : wanted;

  const expiries = isExpired ? gate.expiries + 1 : 0;
  const isGivenUp = effect === 'rework' && expiries >= MAX_EXPIRIES;

  const error = effect === 'fail' ? `rejected by ${decidedBy}${comment ? `: ${comment}` : ''}` : null;
  const about = { taskId: gate.taskId, subtaskId: gate.id, actor };
  const payload = { phase_slug: gate.phaseSlug, step_slug: gate.slug, gate_kind: gate.gateKind };
  const told = { ...payload, decision, decided_by: decidedBy, comment, effect };
  // Everything but a pass moves other steps too, and the phase after them.
  const isPass = effect === 'pass';
  await db.rows(sql`
    with answered as (
      ${settleWait(gate.id, project, { answer: answerIn(gate, output), by: decidedBy, via, comment })}
    ), gate as (
      update subtasks s set status = ${effect === 'fail' ? 'failed' : 'succeeded'}::task_status, completed_at = now(),
        consumed = ${shownBy(sql`s`)}, answered_by = ${JSON.stringify(actor)}::jsonb, error = ${error}, expiries = ${isGivenUp ? 0 : expiries}, gate_output = ${JSON.stringify({ ...output, decided_at: new Date().toISOString() })}::jsonb
      where id = ${gate.id}::uuid and status = 'blocked'
    )${isPass ? sql`, task as (${setTaskStatus(gate.taskId, { subtaskId: gate.id, to: 'succeeded' })})` : sql``}
    ${insertEvents(project, [{ topic: 'gate_resolved', ...about, payload: told }])}`);

  let reset: string[] = [];
  if (effect === 'rework')
    reset = await sendToProducer(db, project, { gate, producer: present(producer), steps, comment, actor, isExpired });
  // The project is paused, because each further round would cost money for work that nobody looks at.
  if (isGivenUp) await pauseLocked(db, project, 'gate_expired', { ...payload, subtask_id: gate.id, expiries });
  if (effect === 'skip') await skipSteps(db, project, gate.taskId, { actor, reason: 'the plan was rejected' });
  if (effect === 'fail') await pauseLocked(db, project, 'gate_rejected', { actor, subtask_id: gate.id });
  if (!isPass) await updateTaskStatus(db, gate.taskId);

  const isNews = GATE_KIND_RULES[gate.gateKind].resumesProject && effect !== 'fail' && !isExpired;
  const reactivated = isNews && project.status === 'paused' && project.pauseReason !== 'requested';
  if (reactivated) await activate(db, project, actor, { resumed: true, gate: gate.id });
  return {
    outcome: 'resolved',
    gate: { subtaskId: gate.id, decision, effect, reset },
    taskId: gate.taskId,
    phaseSlug: gate.phaseSlug,
    projectStatus: project.status,
    reactivated,
  };
}

/** @throws Problem gate_not_waiting */
export function requireWaiting({ status }: Gate): void {
  if (status !== 'blocked') throw new Problem('gate_not_waiting', `the gate is ${status}`);
}

interface Rework {
  gate: Gate;
  producer: Step;
  steps: readonly Step[];
  comment: string | null;
  actor: Actor;
  isExpired: boolean;
}

/** @returns the steps that are pending again, the gate among them */
async function sendToProducer(
  db: Database,
  project: LockedProject,
  { gate, producer, steps, comment, actor, isExpired }: Rework,
): Promise<string[]> {
  const feedback = comment ?? 'rejected without a comment';
  await db.rows(sql`
    update subtasks set feedback = feedback || ${feedback}::text where id = ${producer.id}::uuid`);
  const payload = { phase_slug: gate.phaseSlug, step_slug: producer.slug, feedback, by: gate.slug };
  await noteProjectEvents(db, project, [
    { topic: 'review_feedback_recorded', taskId: gate.taskId, subtaskId: producer.id, actor, payload },
  ]);
  return resetSteps(db, [producer, ...downstreamOf(steps, producer.slug)], 'manual_rework', !isExpired);
}
