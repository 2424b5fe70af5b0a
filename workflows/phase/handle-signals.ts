/** Handles what the project's workflow tells one of its phases. */
import { setHandler } from '@temporalio/workflow';
import {
  detachSignal,
  discardSignal,
  gateResolvedSignal,
  grantStepSignal,
  resumedSignal,
  stepRetriedSignal,
} from './messages.ts';
import type { PhaseState } from './state.ts';

export function handleSignals(state: PhaseState): void {
  const { graph, gates, granted } = state;
  setHandler(resumedSignal, () => {
    state.resumes++;
    state.isBehind = true;
  });
  setHandler(gateResolvedSignal, gates.answer);
  setHandler(stepRetriedSignal, ({ subtaskId }) => graph.resetFrom(subtaskId));
  setHandler(grantStepSignal, ({ subtaskId }) => void granted.add(subtaskId));
  setHandler(discardSignal, state.supersede);
  setHandler(detachSignal, () => {
    state.isDetached = true;
  });
}
