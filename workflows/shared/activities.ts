/**
 * The only way from workflows to activities, with retry policies named for what a retry costs. What an activity may be
 * asked is typed by `activities/index.ts`, whose code never enters the sandbox.
 */
import { proxyActivities, proxyLocalActivities, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';

/** Writes to Postgres are idempotent and cheap, so they retry for as long as the database is away. */
export const records = proxyLocalActivities<Activities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', maximumInterval: '10s' },
});

/**
 * Gives the same activities, each carried out after the one before. Two that are under way at once end in an order, and
 * at moments, that a replay does not repeat: it is given what ended in one workflow task together.
 */
export function recordsInTurn(): typeof records {
  let last: Promise<unknown> = Promise.resolve();
  return new Proxy(records, {
    get: (target, name) => {
      const activity = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => {
        const mine = last.then(() => activity(...args));
        last = mine.catch(() => {});
        return mine;
      };
    },
  });
}

/** Model calls are slow and billed, so they heartbeat and give up early. Their failure says how long to wait. */
export const MODEL_CALL = {
  startToCloseTimeout: '15m',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 5 },
} satisfies ActivityOptions;

/** These tool calls may be repeated. */
export const TOOL_CALL = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '500ms', maximumInterval: '10s', maximumAttempts: 3 },
} satisfies ActivityOptions;

/**
 * Returns the options of a call of which earlier activities made some attempts.
 * @param made is 0 for an irreversible call, which has one attempt
 */
export const afterAttempts = (
  { retry }: typeof MODEL_CALL | typeof TOOL_CALL,
  made: number,
): Pick<ActivityOptions, 'retry'> =>
  made > 0 ? { retry: { ...retry, maximumAttempts: Math.max(1, retry.maximumAttempts - made) } } : {};

/** These effects must not happen twice, so there is one attempt; an unknown outcome is told to the model. */
const IRREVERSIBLE: ActivityOptions = { ...TOOL_CALL, retry: { maximumAttempts: 1 } };

/** For chores the next tick is the retry, and it must not wait for long for one whose worker was killed. */
export const chores = proxyActivities<Activities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 1 },
});

/** A schedule asks for these seldom: one must not be lost by a worker that was killed, and may be repeated. */
export const systemJobs = proxyActivities<Activities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m', maximumAttempts: 10 },
});

const sameQueue = {
  models: proxyActivities<Activities>(MODEL_CALL),
  tools: proxyActivities<Activities>(TOOL_CALL),
  irreversible: proxyActivities<Activities>(IRREVERSIBLE),
};

/** @param split whether each kind of activity has a task queue of its own, beside that of the workflow */
export function activitiesOf(split: boolean): typeof sameQueue {
  if (!split) return sameQueue;
  const queue = (kind: string): string => workflowInfo().taskQueue.replace(/orchestration$/, kind);
  return {
    models: proxyActivities<Activities>({ ...MODEL_CALL, taskQueue: queue('models') }),
    tools: proxyActivities<Activities>({ ...TOOL_CALL, taskQueue: queue('tools') }),
    irreversible: proxyActivities<Activities>({ ...IRREVERSIBLE, taskQueue: queue('tools') }),
  };
}
