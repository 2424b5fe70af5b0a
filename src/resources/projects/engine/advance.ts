/**
 * Moves a phase on. The end of a step is recorded together with the beginning of the steps that waited for it, and the
 * last step together with the end of the phase: one transaction and one activity of the phase's workflow instead of
 * two.
 */
import { isOneOf } from '../../../platform/core/one-of.ts';
import { itemAt } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import {
  isDone,
  type AttemptBeginning,
  type AttemptFault,
  type AttemptOutcome,
  type EffectOf,
  type PhaseEnding,
  type PhaseOpening,
  type PhaseRef,
  type StepRef,
} from '../model.ts';
import { lockProject, type LockedProject } from '../store/record.ts';
import { beginStep, loadSteps, type Next } from './begin.ts';
import { closeLocked } from './close.ts';
import { openPhase } from './open.ts';
import { settleAttempt } from './settle.ts';
import type { StepRow } from './step-row.ts';

const UNBEGUN = ['paused', 'not_yet', 'put_back', 'superseded'] as const;

const hasBegun = (beginning: AttemptBeginning): beginning is StartedStep['beginning'] =>
  !isOneOf(UNBEGUN, beginning.kind);

/** A step that has begun. The workflow itself asks for those that could not begin. */
export interface StartedStep {
  subtaskId: string;
  beginning: Exclude<AttemptBeginning, { kind: (typeof UNBEGUN)[number] }>;
}

/** @param steps are the rows of those that are to begin */
async function beginAll(
  db: Database,
  project: LockedProject,
  ref: PhaseRef,
  { next, steps, granted = null }: { next: readonly Next[]; steps: readonly StepRow[]; granted?: string | null },
  effectOf: EffectOf,
): Promise<StartedStep[]> {
  const begun: StartedStep[] = [];
  for (const { subtaskId, key } of next) {
    const step = steps.find((each) => each.subtaskId === subtaskId);
    const dispatch = { ...ref, subtaskId, key, granted: subtaskId === granted };
    const beginning = await beginStep(db, project, step, dispatch, effectOf);
    if (hasBegun(beginning)) begun.push({ subtaskId, beginning });
  }
  return begun;
}

/**
 * @param granted names the step that may run although the project is paused
 * @param key is the prefix of the keys of the dispatches
 */
export const openAndBegin = (
  db: Database,
  ref: PhaseRef,
  { granted, key }: { granted: string | null; key: string },
  effectOf: EffectOf,
): Promise<PhaseOpening & { begun: StartedStep[] }> =>
  db.transaction(async () => {
    const project = await lockProject(db, ref.projectId);
    const opening = await openPhase(db, project, ref, granted !== null);
    if (opening.kind !== 'opened') return { ...opening, begun: [] };
    // A running step may have begun in this very activity, whose worker died before it could report that. Its key
    // tells.
    const next = opening.steps
      .filter((step) => isBeginning(step) && canStart(step, opening.steps))
      .map(({ subtaskId }) => ({ subtaskId, key: `${key}:${subtaskId}` }));
    const steps = next.length > 0 ? await loadSteps(db, ref, next) : [];
    return { ...opening, begun: await beginAll(db, project, ref, { next, steps, granted }, effectOf) };
  });

const isBeginning = ({ status }: StepRef): boolean => status === 'pending' || status === 'running';

const canStart = (step: StepRef, steps: readonly StepRef[]): boolean =>
  step.dependsOn.every((position) => isDone(itemAt(steps, position).status)) &&
  !steps.some(({ status }) => status === 'failed');

export interface Settlement {
  attemptId: string;
  fault?: AttemptFault | undefined;
  /** These steps depend on this one alone, and begin if it succeeds. */
  next: readonly Next[];
  /** Says that nothing is left to do in the phase if this step succeeds. */
  isLast: boolean;
}

export const settleAndGoOn = (
  db: Database,
  ref: PhaseRef,
  { attemptId, fault, next, isLast }: Settlement,
  effectOf: EffectOf,
): Promise<{ outcome: AttemptOutcome; begun: StartedStep[]; ending?: PhaseEnding }> =>
  db.transaction(async () => {
    const project = await lockProject(db, ref.projectId);
    const attempt = { attemptId, fault, isLast, next };
    const { outcome, ending, steps } = await settleAttempt(db, project, ref, attempt, effectOf);
    if (outcome.kind !== 'succeeded') return { outcome, begun: [] };
    if (isLast) return { outcome, begun: [], ending: ending ?? (await closeLocked(db, project, ref)) };
    if (next.length === 0) return { outcome, begun: [] };
    const given = { next, steps: steps ?? (await loadSteps(db, ref, next)) };
    return { outcome, begun: await beginAll(db, project, ref, given, effectOf) };
  });
