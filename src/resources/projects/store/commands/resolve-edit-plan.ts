/** A person decides on the plan of an edit session. */
import { found, type Database } from '../../../../platform/db/client.ts';
import type { Actor, EditPlan, GateDecision, PlanDecision } from '../../model.ts';
import { runCommand } from './command.ts';
import { findGate, settleGate, type ResolvedGate } from './gates.ts';

export interface ResolveEditPlanArgs {
  projectId: string;
  /** The edit session. */
  taskId: string;
  decision: PlanDecision;
  comment: string | null;
  /** Of `edit_plan`: enacted instead of what the planner proposed. */
  revisedPlan: EditPlan | null;
  decidedBy: string;
  actor: Actor;
  commandId: string;
}

const EFFECTS = {
  approved: 'pass',
  edit_plan: 'pass',
  rejected: 'skip',
  request_changes: 'rework',
} as const satisfies Record<PlanDecision, GateDecision['effect']>;

/** @throws Problem not_found, gate_not_waiting */
export const resolveEditPlan = (
  db: Database,
  { projectId, taskId, decision, comment, revisedPlan, decidedBy, actor, commandId }: ResolveEditPlanArgs,
): Promise<ResolvedGate> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const gate = found(await findGate(db, projectId, { sessionId: taskId }));
    const then = EFFECTS[decision];
    return settleGate(db, project, gate, {
      output: {
        ...{ decision: then === 'pass' ? 'approved' : 'rejected', plan_decision: decision },
        ...{ decided_by: decidedBy, comment, payload: null },
        ...(decision === 'edit_plan' && { revised_plan: revisedPlan }),
      },
      actor,
      then,
    });
  });
