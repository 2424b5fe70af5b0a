/** Asks the record whether work may begin, and how the phase is recorded. */
import { condition } from '@temporalio/workflow';
import type { PauseReason } from '../../src/resources/projects/model.ts';
import type { PhaseState } from './state.ts';

/**
 * Asks again each time the project goes on, for as long as the answer is that it is paused.
 * @returns undefined when another step failed in the meantime: nothing starts beside it
 */
export async function askUntilResumed<Reply extends { kind: string; reason?: PauseReason }>(
  state: PhaseState,
  { key, slug, isGranted }: { key: string; slug: string; isGranted: () => boolean },
  ask: () => Promise<Reply>,
): Promise<Exclude<Reply, { kind: 'paused' }> | undefined> {
  const { details, graph, signals } = state;
  for (;;) {
    const before = state.resumes;
    const reply = await ask();
    if (reply.kind !== 'paused') return reply as Exclude<Reply, { kind: 'paused' }>;
    const told = { key, waitsFor: details.paused(key, { slug }, reply.reason) };
    await signals.waitWhilePaused(told, () =>
      condition(() => state.resumes > before || isGranted() || graph.hasFailed()),
    );
    details.goOn(key);
    if (graph.hasFailed()) return undefined;
  }
}

/**
 * Takes over the record where it and this workflow have come apart: what the phase was told may be lost, and what was
 * sent back may not have been told yet.
 * @param asking is a step that is under way only to ask whether it can begin
 */
export async function readRecord(state: PhaseState, asking?: string): Promise<void> {
  state.isBehind = false;
  const reading = await state.records.readPhase(state.ref);
  if (reading.kind === 'superseded') return state.supersede();
  state.graph.adopt(reading.steps, asking);
  state.gates.adopt(reading.steps);
}
