/**
 * The step graph of a phase in memory: it knows what can start, and what is under way. The record decides; this only
 * remembers, and asks nobody.
 */
import { itemAt } from '../../src/platform/core/present.ts';
import { isDone, type StepRef, type TaskStatus } from '../../src/resources/projects/model.ts';

/** @param changed is told of every change of a step */
export function createStepGraph(changed: () => void) {
  let steps: StepRef[] = [];
  const inFlight = new Set<string>();
  const find = (subtaskId: string): StepRef | undefined => steps.find((step) => step.subtaskId === subtaskId);
  const set = (subtaskId: string, status: TaskStatus): void => {
    const step = find(subtaskId);
    if (!step) return;
    step.status = status;
    changed();
  };

  const hasFailed = (): boolean => steps.some(({ status }) => status === 'failed');
  const canBegin = ({ status, dependsOn }: StepRef): boolean =>
    (status === 'pending' || status === 'blocked') &&
    dependsOn.every((position) => isDone(itemAt(steps, position).status));

  return {
    inFlight,
    set,
    hasFailed,
    load(recorded: readonly StepRef[]): void {
      steps = recorded.map((step) => ({ ...step }));
      changed();
    },

    /**
     * Takes over what the record says of steps on which nothing is under way here.
     * @param asking is one that is under way only to ask whether it can begin
     */
    adopt(recorded: readonly StepRef[], asking?: string): void {
      const isUnderWay = (subtaskId: string) => inFlight.has(subtaskId) && subtaskId !== asking;
      steps = recorded.map((step) => ({ ...((isUnderWay(step.subtaskId) && find(step.subtaskId)) || step) }));
      changed();
    },

    /** Nothing new starts beside a step that has failed, because its project is paused. */
    ready: (): StepRef[] =>
      hasFailed() ? [] : steps.filter((step) => !inFlight.has(step.subtaskId) && canBegin(step)),

    /** @returns whether it could start if it were not under way */
    couldStart: (subtaskId: string): boolean => {
      const step = find(subtaskId);
      return step !== undefined && !hasFailed() && canBegin(step);
    },

    /** @returns the steps that could start if only this one were done, as nothing else is before them */
    readyAfter: (subtaskId: string): StepRef[] =>
      hasFailed()
        ? []
        : steps.filter(
            (step) =>
              step.status === 'pending' &&
              !inFlight.has(step.subtaskId) &&
              step.dependsOn.some((position) => itemAt(steps, position).subtaskId === subtaskId) &&
              step.dependsOn.every(
                (position) => isDone(itemAt(steps, position).status) || itemAt(steps, position).subtaskId === subtaskId,
              ),
          ),

    /** @returns whether all other steps are done */
    isLast: (subtaskId: string): boolean =>
      steps.every((step) => isDone(step.status) || step.subtaskId === subtaskId) && inFlight.size === 1,

    find,

    /** Makes these steps pending again. */
    reset(subtaskIds: readonly string[]): void {
      for (const subtaskId of subtaskIds) set(subtaskId, 'pending');
    },

    /** Makes this step and whatever was done after it pending again. */
    resetFrom(subtaskId: string): void {
      const reached = new Set([steps.findIndex((step) => step.subtaskId === subtaskId)]);
      for (let before = 0; before !== reached.size;) {
        before = reached.size;
        steps.forEach(({ dependsOn }, position) => {
          if (dependsOn.some((each) => reached.has(each))) reached.add(position);
        });
      }
      for (const position of reached) if (steps[position]) steps[position].status = 'pending';
      changed();
    },

    /** Marks every step that has not begun as skipped. */
    skipRest(): void {
      for (const step of steps) if (step.status === 'pending') step.status = 'skipped';
      changed();
    },

    render: (): string =>
      [
        '| Step | Kind | Status |',
        '| --- | --- | --- |',
        ...steps.map(({ slug, kind, status }) => `| ${slug} | ${kind} | ${status} |`),
      ].join('\n'),
  };
}
