/** Lets a person have a phase run again, with what is downstream. */
import type { RetriggerResult } from '../../../../workflows/project/messages.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { isInFlight, type Actor, type Cascade, type PhaseChange } from '../model.ts';
import { listPhases, retrigger } from './backtrack.ts';
import { refuseAbandoned, reopen, runCommand } from '../control/run-command.ts';

export interface RetriggerArgs {
  projectId: string;
  phaseSlug: string;
  /** It is added to the prompts of the phase's steps. */
  addendum: string | null;
  cascade: Cascade;
  actor: Actor;
  commandId: string;
}

/** @throws Problem not_found, project_ended, phase_in_flight */
export const retriggerPhase = (
  db: Database,
  { projectId, phaseSlug, addendum, cascade, actor, commandId }: RetriggerArgs,
): Promise<RetriggerResult & { changes: PhaseChange[] }> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const phases = await listPhases(db, projectId);
    const phase = found(phases.find(({ slug }) => slug === phaseSlug));
    refuseAbandoned(project);
    if (phase.status === 'pending' || isInFlight(phase.status)) {
      throw new Problem('phase_in_flight', `the phase is ${phase.status}`);
    }
    await reopen(db, project, actor);
    return retrigger(db, project, { phases, phase, addendum, cascade, reason: 'cascade_retrigger', actor });
  });
