/** The gates of a phase that are open, and what came to each: an answer, a change of the record, or work before it again. */
import type { StepRef, TaskStatus } from '../../src/resources/projects/model.ts';
import type { GateDecision } from '../../src/resources/projects/decisions/model.ts';

export function createOpenGates() {
  const open = new Set<string>();
  const answers = new Map<string, GateDecision>();
  /** These gates were open when the work before them was sent back. */
  const reopened = new Set<string>();
  /** What the record says of open gates whose answer has not arrived here. */
  const recorded = new Map<string, TaskStatus>();

  return {
    count: (): number => open.size,

    open(subtaskId: string): void {
      open.add(subtaskId);
    },

    /** The answer may arrive before its gate is open here. */
    answer(decision: GateDecision): void {
      answers.set(decision.subtaskId, decision);
    },

    /** Drops an answer that was meant for the time when the gate was open before, and came too late. */
    dropAnswer(subtaskId: string): void {
      answers.delete(subtaskId);
    },

    /** Nobody can answer an open gate any more that is pending again in the record. */
    reopen(subtaskIds: readonly string[]): void {
      for (const subtaskId of subtaskIds) if (open.has(subtaskId)) reopened.add(subtaskId);
    },

    /** Takes over what the record says of open gates. */
    adopt(steps: readonly StepRef[]): void {
      for (const { subtaskId, status } of steps) {
        if (open.has(subtaskId) && status !== 'blocked') recorded.set(subtaskId, status);
      }
    },

    isOver: (subtaskId: string): boolean =>
      answers.has(subtaskId) || reopened.has(subtaskId) || recorded.has(subtaskId),

    /** @returns what ended the wait; an answer that came before the gate was reopened no longer counts */
    close(subtaskId: string): { answer: GateDecision | undefined; status: TaskStatus | undefined } {
      open.delete(subtaskId);
      const status = recorded.get(subtaskId);
      recorded.delete(subtaskId);
      const answer = reopened.delete(subtaskId) ? undefined : answers.get(subtaskId);
      answers.delete(subtaskId);
      return { answer, status };
    },
  };
}
