/**
 * Housekeeping: for as long as the deployment lives it repeats what was accepted but whose start was lost, and does what
 * else nobody waits for. Each chore is an activity of its own, with its own limits: one that fails, or hangs until its time
 * is over, holds up none of the others, and is left out of the rounds meanwhile.
 */
import { allHandlersFinished, condition, continueAsNew, proxyActivities } from '@temporalio/workflow';
import { setCurrentDetails, setHandler, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { LIMITS } from '../housekeeping/limits.ts';
import { dutiesOf, rhythmSignal, SLOW_CHORES } from './messages.ts';
import type { Duty, HousekeeperInput, SlowChore } from './messages.ts';

/** A round is up to six events of each chore. */
const MAX_ROUNDS = 20;
/** An execution that has had its rounds goes on for so many more until nothing is under way. */
const OVERTIME = 10;

/** What one leaves is for the next time. */
const SLOWLY: ActivityOptions = {
  startToCloseTimeout: '2m',
  scheduleToStartTimeout: '1m',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 1 },
};

const { tidyWorkflowList } = proxyActivities<Activities>({
  startToCloseTimeout: '30s',
  scheduleToStartTimeout: '1m',
  // Workers of an earlier release do not know it.
  retry: { initialInterval: '1s', maximumAttempts: 5 },
});

const isSlow = (duty: Duty): duty is SlowChore => SLOW_CHORES.some((slow) => slow === duty);
const carryOut = (duty: Duty): Promise<unknown> => {
  if (!isSlow(duty)) return proxyActivities<Activities>(LIMITS[duty])[duty]();
  const slowly = proxyActivities<Activities>(SLOWLY);
  return duty === 'checkCredentials' ? slowly.checkCredentials({}) : slowly[duty]();
};

export async function housekeeper(input: HousekeeperInput): Promise<void> {
  const { continueAfterRounds = MAX_ROUNDS, last, beforeLast } = input;
  let { rhythm } = input;
  const dueInMs: Partial<Record<Duty, number>> = { ...input.dueInMs };
  const underWay = new Set<Duty>();
  const failed = new Map<Duty, number>();
  setHandler(rhythmSignal, (said) => void (rhythm = said));

  function begin(duty: Duty): void {
    underWay.add(duty);
    carryOut(duty)
      .then(() => failed.delete(duty))
      .catch(() => failed.set(duty, (failed.get(duty) ?? 0) + 1))
      .finally(() => {
        underWay.delete(duty);
        setCurrentDetails(board(failed));
      });
  }

  setCurrentDetails(board(failed));
  let isTidy = false;
  // What is left of earlier releases and executions does no harm, so a failure is none.
  void tidyWorkflowList({ ...(beforeLast && { runId: beforeLast }) })
    .catch(() => {})
    .finally(() => (isTidy = true));

  let overtime = 0;
  for (let rounds = 0; ; rounds++) {
    const isFull = rounds >= continueAfterRounds || workflowInfo().continueAsNewSuggested;
    if (isFull && (underWay.size === 0 || overtime++ >= OVERTIME)) break;
    const duties = dutiesOf(rhythm);
    for (const [duty, everyMs] of duties) {
      const leftMs = dueInMs[duty] ?? 0;
      // One that is still under way has its next turn.
      if (leftMs <= 0 && !underWay.has(duty) && !(isFull && isSlow(duty))) begin(duty);
      dueInMs[duty] = leftMs > 0 ? Math.min(leftMs, everyMs) : everyMs;
    }
    const [since, now] = [rhythm, Date.now()];
    const waitMs = Math.min(...duties.map(([duty]) => dueInMs[duty] ?? 0));
    const isInTime = !(await condition(() => rhythm !== since, waitMs));
    // More time than that has passed where no worker was there.
    const passedMs = Math.max(Date.now() - now, isInTime ? waitMs : 0);
    for (const [duty] of duties) dueInMs[duty] = (dueInMs[duty] ?? 0) - passedMs;
  }
  await condition(() => underWay.size === 0 && isTidy && allHandlersFinished());
  await continueAsNew<typeof housekeeper>({
    ...input,
    rhythm,
    dueInMs,
    last: workflowInfo().runId,
    ...(last && { beforeLast: last }),
  });
}

/** People see this in the Temporal Web UI. */
function board(failed: ReadonlyMap<Duty, number>): string {
  if (failed.size === 0) return 'Every chore ended well when it was done last.';
  const rows = [...failed].map(([duty, times]) => `| ${duty} | ${times} |`);
  return ['The log says why.', '', '| chore | failed in a row |', '| --- | --- |', ...rows].join('\n');
}
