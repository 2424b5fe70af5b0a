/**
 * Section 3 of the specification in memory: what a command on a project in a known state must be answered, and where it
 * leaves the phases. While steps are under way a state does not stay known: then only what can never be is predicted.
 */
import { present } from '../../../../src/platform/core/present.ts';
import type { Cascade } from '../../../../src/resources/projects/model.ts';
import type { PhaseState, ProjectState, StepState, WaitState } from './record.ts';

/** What somebody saw of a wait. */
export type Seen = Pick<WaitState, 'id' | 'revision'>;

const isDone = ({ status }: { status: string }) => ['succeeded', 'skipped', 'stale'].includes(status);
export const isInFlight = ({ status }: PhaseState) => ['running', 'blocked', 'review'].includes(status);
const isOver = ({ status }: ProjectState) => status === 'completed' || status === 'abandoned';

const canBegin = (step: StepState, { steps }: PhaseState): boolean =>
  step.status === 'pending' &&
  step.dependsOn.every((slug) => isDone(present(steps.find((each) => each.slug === slug))));

/** Nothing happens until somebody does something. */
export function isQuiet(project: ProjectState): boolean {
  if (isOver(project)) return true;
  if (project.isOrphaned) return false;
  // Its time runs, or another project's end is on its way to it.
  const runsOut = ({ steps }: PhaseState) =>
    steps.some(({ status, gateKind, wait }) => status === 'blocked' && (gateKind !== 'human' || wait?.isTimed));
  if (project.phases.some(runsOut)) return false;
  const waits = (phase: PhaseState): boolean =>
    phase.steps.some(({ status }) => status === 'blocked') ||
    (!phase.steps.some(({ status }) => status === 'failed') && phase.steps.some((step) => canBegin(step, phase)));
  return (
    project.status === 'paused' &&
    project.phases.every(
      (phase) => !phase.steps.some(({ isRunning }) => isRunning) && (!isInFlight(phase) || waits(phase)),
    )
  );
}

/** Statuses of HTTP that may be answered. */
export type Expected = readonly number[];
const ACCEPTED = [200] as const;
const REFUSED = [409] as const;
const NOT_THEIRS = [403] as const;
const EITHER = [200, 409] as const;
const unless = (project: ProjectState, isRefused: boolean): Expected => {
  if (project.status === 'abandoned') return REFUSED;
  if (!isQuiet(project)) return EITHER;
  return isRefused ? REFUSED : ACCEPTED;
};

export const onPause = (project: ProjectState): Expected =>
  project.status === 'paused' ? ACCEPTED : unless(project, isOver(project));
export const onResume = (project: ProjectState): Expected =>
  project.status === 'paused' ? ACCEPTED : unless(project, true);
export const onAbandon = (project: ProjectState): Expected => unless(project, isOver(project));
export const onRunStep = (project: ProjectState): Expected => (project.status === 'abandoned' ? REFUSED : ACCEPTED);
export const onRetry = (project: ProjectState, step: StepState): Expected =>
  unless(project, step.status !== 'failed' || step.isQueued);

/** For whom an answer of theirs counts: themselves, or whoever named them. */
function seatOf({ approvers, wait }: StepState, who: string): string | undefined {
  if (approvers === null || approvers.includes(who)) return who;
  return approvers.find((approver) => wait?.standIns[approver] === who);
}
/** Nobody but those whom it asks can decide, whatever else goes on; of a gate that does not wait that is not said. */
const byWhomItAsks = (gate: StepState, who: string, expected: Expected): Expected => {
  if (gate.kind !== 'gate' || seatOf(gate, who) !== undefined) return expected;
  return expected.flatMap((status) => (status === 200 ? NOT_THEIRS : status));
};
export const onResolve = (project: ProjectState, gate: StepState, who: string): Expected =>
  byWhomItAsks(gate, who, unless(project, gate.status !== 'blocked'));
/** @param seen is what the answer is for: another wait or revision than there is now is never answered */
export const onAnswer = (project: ProjectState, gate: StepState, who: string, seen: Seen): Expected => {
  const { wait } = gate;
  if (!wait?.isOpen || wait.id !== seen.id || wait.revision !== seen.revision) return REFUSED;
  return onResolve(project, gate, who);
};
export const onDelegate = (project: ProjectState, gate: StepState, who: string, to: string): Expected => {
  if (!gate.wait?.isOpen) return REFUSED;
  const isRefused = who === to || gate.approvers === null || ![undefined, who].includes(seatOf(gate, who));
  return isRefused ? [400, ...(isQuiet(project) ? [] : REFUSED)] : onResolve(project, gate, who);
};
/** Whether this approval is the last one that it takes. */
export const decides = (gate: StepState, who: string): boolean =>
  new Set([...present(gate.wait).approvals, seatOf(gate, who)]).size >= gate.quorum;
/** An edit session is rejected in any state until its plan is enacted, which a state does not show. */
export const onPlan = (project: ProjectState, session: PhaseState, gate: StepState, decision: string): Expected => {
  if (decision !== 'rejected' || gate.status === 'blocked') return unless(project, gate.status !== 'blocked');
  if (gate.status === 'succeeded' && !isDone(session)) return EITHER;
  return unless(project, isDone(session));
};
export const onEdit = (project: ProjectState): Expected => (project.status === 'abandoned' ? REFUSED : [201]);
export const onRetrigger = (project: ProjectState, phase: PhaseState): Expected =>
  unless(project, phase.status === 'pending' || isInFlight(phase));

export function onRevert(project: ProjectState, phase: PhaseState, version: number): Expected {
  if (project.status === 'abandoned') return REFUSED;
  if (!phase.versions.includes(version)) return isQuiet(project) ? [404] : [404, ...EITHER];
  return unless(project, isInFlight(phase) || (phase.current === version && phase.status !== 'failed'));
}

/** The step that run-step takes of a quiet paused project: the first that could begin. */
export function nextStep({ phases }: ProjectState): StepState | undefined {
  for (const phase of phases) {
    const isReady =
      phase.status === 'pending'
        ? phase.dependsOn.every((slug) => isDone(present(phases.find((each) => each.slug === slug))))
        : isInFlight(phase) && !phase.steps.some(({ status }) => status === 'failed');
    const step = isReady ? phase.steps.find((each) => canBegin(each, phase)) : undefined;
    if (step) return step;
  }
  return undefined;
}

/** Statuses of the phases of a quiet project after the artifact of one changed, or is about to. */
export function afterCascade({ phases }: ProjectState, changed: string, cascade: Cascade): Map<string, string> {
  const statuses = new Map(phases.map(({ slug, status }) => [slug, status as string]));
  const reached = new Set([changed]);
  for (const { slug, dependsOn, mode } of phases) {
    const status = present(statuses.get(slug));
    const wanted = cascade === 'default' ? mode : cascade;
    if (!dependsOn.some((each) => reached.has(each))) continue;
    // What is to run makes another artifact, which matters to those behind it.
    if (status === 'pending') reached.add(slug);
    if (status === 'pending' || wanted === 'none') continue;
    reached.add(slug);
    if (wanted === 'lazy' && (status === 'failed' || status === 'skipped')) continue;
    // What is under way goes on with what it began with.
    if (isInFlight({ status } as PhaseState)) continue;
    statuses.set(slug, wanted === 'strict' ? 'pending' : 'stale');
  }
  return statuses;
}
