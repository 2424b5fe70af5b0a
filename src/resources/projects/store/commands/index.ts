/**
 * Commands change a project from outside of its phases: they come from people, from the world, and from its own
 * workflow. A command is one transaction that begins with the lock on the project's row, and repeating one that
 * committed changes nothing.
 */
export { abandonProject } from './abandon-project.ts';
export { completeProject, listWaiters } from './complete-project.ts';
export { judgeCrash, recordCrash } from './crashes.ts';
export { enactPlan } from './enact-plan.ts';
export { passGateMoment } from './gate-moments.ts';
export { nextStep } from './next-step.ts';
export { pauseIdle } from './pause-idle.ts';
export { pauseProject } from './pause-project.ts';
export { recoverPhase } from './recover-phase.ts';
export { resolveEditPlan } from './resolve-edit-plan.ts';
export { resolveGate } from './resolve-gate.ts';
export { resumeProject } from './resume-project.ts';
export { retriggerPhase } from './retrigger-phase.ts';
export { retrySubtask } from './retry-subtask.ts';
export { revertArtifact } from './revert-artifact.ts';
export { startEditSession } from './start-edit-session.ts';
export { startProject } from './start-project.ts';
