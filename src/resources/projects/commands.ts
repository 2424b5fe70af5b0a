/**
 * Commands change a project from outside of its phases: they come from people, from the world, and from its own
 * workflow. A command is one transaction that begins with the lock on the project's row, and repeating one that
 * committed changes nothing.
 */
export { abandonProject } from './control/abandon-project.ts';
export { completeProject, listWaiters } from './control/complete-project.ts';
export { judgeCrash, recordCrash } from './engine/crashes.ts';
export { enactPlan } from './edit-plans/enact-plan.ts';
export { passGateMoment } from './decisions/gate-moments.ts';
export { nextStep } from './control/next-step.ts';
export { pauseIdle } from './control/pause-idle.ts';
export { pauseProject } from './control/pause-project.ts';
export { recoverPhase } from './control/recover-phase.ts';
export { resolveEditPlan } from './decisions/resolve-edit-plan.ts';
export { resolveGate } from './decisions/resolve-gate.ts';
export { resumeProject } from './control/resume-project.ts';
export { retriggerPhase } from './backtracking/retrigger-phase.ts';
export { retrySubtask } from './backtracking/retry-subtask.ts';
export { revertArtifact } from './backtracking/revert-artifact.ts';
export { startEditSession } from './edit-plans/start-edit-session.ts';
export { startProject } from './control/start-project.ts';
