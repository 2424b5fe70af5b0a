/** What people do about a call of a run that waits for them: say whether it took effect, and ask for an answer. */
import { submittedSignal } from '../../../workflows/run/messages.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Claim } from '../../platform/http/once-only.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { lostEffectOf, runWorkflowId } from './model.ts';
import type { RunStore } from './store/index.ts';
import type { LostEffectSettling } from './store/lost-effects.ts';

export const createLostEffects = ({
  store,
  temporal,
  log,
}: {
  store: Pick<RunStore, 'settleLostEffect' | 'noteEvents'>;
  temporal: Temporal;
  log: Log;
}) => ({
  /** @throws Problem not_found where it is not what was seen any more */
  async settle(settling: LostEffectSettling, claim?: Claim): Promise<void> {
    if (!(await store.settleLostEffect(settling, claim))) throw new Problem('not_found');
    const { runId, callId } = settling;
    // What was said is recorded. A run that does not hear of it finds it when it next looks for itself.
    await withinDeadline(temporal, () =>
      temporal.client.workflow.getHandle(runWorkflowId(runId)).signal(submittedSignal, lostEffectOf(runId, callId)),
    ).catch((err: unknown) => log.warn({ err, run_id: runId }, 'a run could not be told of an answer; it will look'));
  },

  /** Writes into the timeline that somebody asked for an answer. */
  noteReminder: ({ runId, waitId, nth, by }: { runId: string; waitId: string; nth: number; by: string }) =>
    store.noteEvents(runId, [
      {
        key: `wait:${waitId}:reminder:${nth}`,
        type: 'tool_call',
        status: 'reminded',
        payload: { wait_id: waitId, nth, by },
      },
    ]),
});
