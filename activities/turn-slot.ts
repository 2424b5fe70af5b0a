/**
 * Asks for the slot of a turn. A run whose workspace has its share of them gives its own back, and waits; if it waits for
 * long, its timeline says so, and that it is over.
 */
import { Context } from '@temporalio/activity';
import type { Log } from '../src/platform/core/log.ts';
import { LONG_WAIT_MS, slotWait } from '../src/platform/temporal/activity-slots.ts';
import type { EarlierAttempts, TurnOutcome, RunWaitReason } from '../src/resources/runs/model.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { NewEvent } from '../src/resources/runs/store/events.ts';
import { turnKey } from '../src/resources/runs/store/turns.ts';

interface SlotAsking {
  runs: Pick<RunStore, 'noteEvents'>;
  log: Log;
  /** Lets a run ask again that gave its slot back. Rejects if its workflow is gone. */
  wakeRun: (runId: string) => Promise<unknown>;
}

interface Asking {
  runId: string;
  turn: number;
  /** The run has waited for the slot since then. */
  waitedSince: number | undefined;
}

export const createSlotAsking = ({ runs, log, wakeRun }: SlotAsking) =>
  /** @returns the outcome of the turn if the slot was given back */
  async function askForSlot(
    { runId, turn, waitedSince }: Asking,
    kept: EarlierAttempts,
  ): Promise<TurnOutcome | undefined> {
    const { attempt } = Context.current().info;
    // An attempt that is made again had its slot.
    const waitsSince = (attempt === 1 ? waitedSince : undefined) ?? Date.now();
    const slot = slotWait(attempt, {
      id: runId,
      wake: () => wakeRun(runId),
      waitsLong() {
        runs.noteEvents(runId, [waits(turn, waitsSince)]).catch((err: unknown) => {
          log.warn({ run_id: runId, err }, 'that a run waits for its share of model calls could not be noted');
        });
      },
    });
    if (slot) return { kind: 'waiting', behind: null, lookMs: slot.slotWaitMs, earlier: { ...kept, waitsSince } };
    if (waitedSince !== undefined && Date.now() - waitedSince >= LONG_WAIT_MS) {
      await runs.noteEvents(runId, [waits(turn, waitedSince)]);
      await runs.noteEvents(runId, [waited(turn, waitedSince)]);
    }
    return undefined;
  };

const waitOf = (turn: number, since: number) => ({
  turn,
  waits_for: 'share_of_model_calls' satisfies RunWaitReason,
  since: new Date(since).toISOString(),
});

/** The run waits for a slot, because its workspace has its share of them. */
const waits = (turn: number, since: number): NewEvent => ({
  key: `${turnKey(turn)}:waits:${since}`,
  type: 'claude_request',
  status: 'waiting',
  payload: waitOf(turn, since),
});

/** It has the slot. */
const waited = (turn: number, since: number): NewEvent => ({
  key: `${turnKey(turn)}:waited:${since}`,
  type: 'claude_request',
  status: 'waited',
  durationMs: Math.max(0, Date.now() - since),
  payload: waitOf(turn, since),
});
