/**
 * Housekeeping: for as long as the deployment lives it repeats what was accepted but whose start was lost, and does what
 * else nobody waits for. Most rounds find nothing to do, so one activity does all chores for a moment. A chore that fails
 * there, or takes longer, has an activity of its own, with its own limits: it holds up none of the others, and is left out
 * of the rounds meanwhile.
 */
import { allHandlersFinished, condition, continueAsNew, proxyActivities } from '@temporalio/workflow';
import { setCurrentDetails, setHandler, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Chore } from './chores.ts';
import { LIMITS } from './limits.ts';
import { dutiesOf, rhythmSignal, SLOW_CHORES } from './messages.ts';
import type { Duty, HousekeeperInput, SlowChore } from './messages.ts';

/** A round is a dozen events, and up to six more of each chore that is done by itself. */
const MAX_ROUNDS = 100;
const MAX_EVENTS = 1_200;
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
  retry: { initialInterval: '1s', maximumAttempts: 5 },
});

const { doTogether } = proxyActivities<Activities>({
  startToCloseTimeout: '15s',
  scheduleToStartTimeout: '30s',
  heartbeatTimeout: '10s',
  // What it leaves, and all where it fails, is done in activities of their own.
  retry: { maximumAttempts: 1 },
});

const isSlow = (duty: Duty): duty is SlowChore => SLOW_CHORES.some((slow) => slow === duty);
const isChore = (duty: Duty): duty is Chore => !isSlow(duty);
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

  function beginTogether(chores: readonly Chore[]): void {
    for (const chore of chores) underWay.add(chore);
    void doTogether({ chores })
      .catch(() => ({ left: chores }))
      .then(({ left }) => {
        for (const chore of chores) underWay.delete(chore);
        left.forEach(begin);
      });
  }

  setCurrentDetails(board(failed));
  let isTidy = beforeLast === undefined;
  if (beforeLast !== undefined) {
    // An old execution that stays in the list does no harm, so a failure is none.
    void tidyWorkflowList({ runId: beforeLast })
      .catch(() => {})
      .finally(() => (isTidy = true));
  }

  let overtime = 0;
  for (let rounds = 0; ; rounds++) {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    const isLong = continueAsNewSuggested || historyLength >= MAX_EVENTS;
    const isFull = isLong || rounds >= continueAfterRounds;
    if (isFull && (underWay.size === 0 || overtime++ >= OVERTIME)) break;
    const duties = dutiesOf(rhythm);
    const due: Duty[] = [];
    for (const [duty, everyMs] of duties) {
      const leftMs = dueInMs[duty] ?? 0;
      // One that is still under way has its next turn.
      if (leftMs <= 0 && !underWay.has(duty) && !(isFull && isSlow(duty))) due.push(duty);
      dueInMs[duty] = leftMs > 0 ? Math.min(leftMs, everyMs) : everyMs;
    }
    // One that has failed is by itself until it ends well.
    const together = due.filter(isChore).filter((chore) => !failed.has(chore));
    if (together.length > 0) beginTogether(together);
    for (const duty of due) if (!underWay.has(duty)) begin(duty);
    const [since, now] = [rhythm, Date.now()];
    const waitMs = Math.min(...duties.map(([duty]) => dueInMs[duty] ?? 0));
    const isInTime = !(await condition(() => rhythm !== since, waitMs, { summary: 'next round' }));
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
