/** Carries out the approved plan of an edit session in one transaction, once for each approval. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { isInFlight, type Actor, type Cascade, type PhaseChange, type PhaseRef, type TaskStatus } from '../model.ts';
import type { EditAction, EditPlan } from './model.ts';
import { lockProject, type LockedProject } from '../store/record.ts';
import { addAddendum, listPhases, retrigger, type Phase } from '../backtracking/backtrack.ts';
import { compact, runCommand } from '../control/run-command.ts';
import type { Applied, Enactment } from './enactment.ts';
import { setArtifact } from '../backtracking/set-artifact.ts';

type ActionRef = Pick<EditAction, 'kind' | 'phase_slug'>;

/** The output of the enacting step. */
interface EnactReport {
  applied: (ActionRef & Record<string, unknown>)[];
  not_applied: { action: ActionRef; reason: string }[];
}

export interface Enacted {
  output: EnactReport;
  changes: PhaseChange[];
}

/** Reports an action that cannot be applied; that is no error. */
export const enactPlan = (
  db: Database,
  { projectId, taskId, subtaskId, iteration }: PhaseRef & { subtaskId: string },
): Promise<Enacted> =>
  db.transaction(async () => {
    await lockProject(db, projectId);
    const session = await findSession(db, projectId, taskId);
    if (!session?.plan || session.iteration !== iteration || !isInFlight(session.status)) {
      return { output: { applied: [], not_applied: [] }, changes: [] };
    }
    const { plan, cascade, approvedAt, approvedBy: actor } = session;
    // The id makes this happen once for each approval, whichever attempt of the step carries it out.
    return runCommand(db, { projectId, commandId: `enact:${subtaskId}:${approvedAt}` }, async (project) => {
      const output: EnactReport = { applied: [], not_applied: [] };
      const changes: PhaseChange[] = [];
      for (const action of plan.actions) {
        const ref: ActionRef = { kind: action.kind, phase_slug: action.phase_slug };
        const outcome = await apply(db, project, { subtaskId, cascade, actor }, action);
        if (typeof outcome === 'string') {
          output.not_applied.push({ action: ref, reason: outcome });
        } else {
          output.applied.push({ ...ref, ...outcome.told });
          changes.push(...outcome.changes);
        }
      }
      return { output, changes: compact(changes) };
    });
  });

async function apply(db: Database, project: LockedProject, by: Enactment, action: EditAction): Promise<Applied> {
  // The phases are read anew for each action, because the one before may have changed them.
  const phases = await listPhases(db, project.id);
  const phase = phases.find(({ slug }) => slug === action.phase_slug);
  if (!phase) return 'there is no such phase';
  if (isInFlight(phase.status)) return `the phase is ${phase.status}`;
  return action.kind === 'edit_artifact'
    ? setArtifact(db, project, by, { phases, phase, content: action.content })
    : runAgain(db, project, by, { phases, phase, action });
}

async function runAgain(
  db: Database,
  project: LockedProject,
  { cascade, actor }: Enactment,
  { phases, phase, action }: { phases: readonly Phase[]; phase: Phase; action: EditAction },
): Promise<Applied> {
  const addendum = action.kind === 'instruct' ? (action.instructions ?? null) : null;
  if (action.kind === 'instruct' && !addendum?.trim()) return 'it has no instructions';
  if (phase.status === 'pending') {
    // The phase runs in any case, as an action before this one may have seen to that.
    if (addendum !== null) await addAddendum(db, phase.taskId, addendum);
    return { told: { affected_phase_slugs: [] }, changes: [] };
  }
  const { changes, ...told } = await retrigger(db, project, {
    phases,
    phase,
    addendum,
    cascade,
    actor,
    reason: 'edit_session',
  });
  return { told: { ...told }, changes };
}

interface Session {
  status: TaskStatus;
  iteration: number;
  cascade: Cascade;
  approvedAt: string;
  /** Causes all that the plan changes: they sent the plan, or took the planner's for theirs. */
  approvedBy: Actor;
  /** The plan that a person sent instead, otherwise the planner's; null where it was not approved. */
  plan: EditPlan | null;
}

async function findSession(db: Database, projectId: string, taskId: string): Promise<Session | undefined> {
  const [session] = await db.rows<Session>(sql`
    select t.status, t.iteration, t.cascade_mode as cascade, gate.gate_output ->> 'decided_at' as "approvedAt",
      gate.answered_by as "approvedBy",
      case when gate.gate_output ->> 'decision' = 'approved' then coalesce(gate.gate_output -> 'revised_plan', (
        select a.output from attempts a join subtasks planner on planner.id = a.subtask_id
        where planner.task_id = t.id and planner.step_slug = 'planner' and a.status = 'succeeded'
        order by a.attempt_number desc limit 1)) end as plan
    from tasks t join subtasks gate on gate.task_id = t.id and gate.kind = 'gate' and gate.status = 'succeeded'
    where t.id = ${taskId}::uuid and t.project_id = ${projectId} and t.task_kind = 'edit_session'`);
  return session;
}
