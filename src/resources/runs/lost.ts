/**
 * Handles runs that Temporal lost: it was restored or replaced, or somebody ended a workflow by hand. The record
 * decides what becomes of them. A run of which Temporal knows nothing goes on from its recorded turns; a run that
 * somebody ended stays ended.
 */
import type { Log } from '../../platform/core/log.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { createRounds } from '../../platform/temporal/rounds.ts';
import { workflowState, type WorkflowState } from '../../platform/temporal/workflow-state.ts';
import { runWorkflowId } from './model.ts';
import type { RunService } from './service.ts';
import type { RunStore } from './store/index.ts';
import type { CheckedRun } from './store/lost.ts';
import type { AfterRun, RunEnd } from './store/turns.ts';

export interface LostRunsDependencies {
  temporal: Temporal;
  store: RunStore;
  startAgain: RunService['startAgain'];
  /** Starts what an end sets off. */
  startFollowing: (after: AfterRun) => Promise<void>;
  log: Log;
}

/**
 * Makes a chore.
 * @param olderThanMs a run is believed to be under way for this long before Temporal is asked about it, and then again
 */
export function createLostRuns(deps: LostRunsDependencies, olderThanMs: number) {
  const { temporal, store, startAgain, startFollowing, log } = deps;

  async function end({ id }: CheckedRun, how: RunEnd): Promise<void> {
    const ended = await store.endRun(id, how);
    if (ended) await startFollowing(ended.after);
  }

  async function settle(run: CheckedRun): Promise<void> {
    const found = await workflowState(temporal, runWorkflowId(run.id));
    const verdict = verdictOn(run, found);
    if (verdict === 'leave') return;
    log.warn({ run_id: run.id, found, verdict }, 'the workflow of a run is not running although its record says so');
    switch (verdict) {
      case 'cancel':
        return void (await temporal.client.workflow.getHandle(runWorkflowId(run.id)).cancel());
      case 'end as cancelled':
        return end(run, { status: 'cancelled' });
      case 'end as failed':
        return end(run, {
          status: 'failed',
          error: { code: 'internal_error', message: `its workflow was ended from outside: ${found}` },
        });
      case 'start again':
        await store.refuseUnknownCalls(run.id);
        await startAgain(run);
    }
  }

  return createRounds({
    take: (turn) => store.takeUnchecked(turn, olderThanMs),
    load: store.loadChecked,
    handle: settle,
    failed: (err, { id }) => log.error({ err, run_id: id }, 'a lost run could not be settled'),
  });
}

type Verdict = 'leave' | 'cancel' | 'end as cancelled' | 'end as failed' | 'start again';

function verdictOn({ owner }: CheckedRun, found: WorkflowState): Verdict {
  // Nobody would take the answer of this run.
  if (owner === 'over') return found === 'running' ? 'cancel' : 'end as cancelled';
  switch (found) {
    case 'running':
      return 'leave';
    case 'absent':
      return owner === 'there' ? 'leave' : 'start again';
    case 'cancelled':
      return 'end as cancelled';
    case 'terminated':
    case 'failed':
    case 'timed out':
      return 'end as failed';
  }
}
