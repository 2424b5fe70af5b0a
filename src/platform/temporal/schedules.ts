/**
 * Temporal Schedules: when they fire, how those of the system are made and brought up to date at every start, and how
 * they are removed.
 */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  ServiceError,
  type ScheduleHandle,
  type ScheduleOptions,
  type ScheduleSpec,
} from '@temporalio/client';
import { cronUnion } from '../core/cron.ts';
import type { Temporal } from './client.ts';

/** A schedule fires at every interval, or at times of day (UTC). */
export type When = { everyMs: number } | { cron: string };

/** After downtime one overdue run, not one for each that was missed: the others meet the one that is running. */
export const CATCH_UP = '365 days' as const;

export const specOf = (when: When): ScheduleSpec =>
  'cron' in when
    ? { cronExpressions: cronUnion(when.cron), timezone: 'UTC' }
    : { intervals: [{ every: when.everyMs }] };

export interface SystemSchedule {
  scheduleId: string;
  workflowType: string;
  taskQueue: string;
  args?: [object];
  when: When;
}

/** A schedule whose action runs one at a time. Safe to repeat, and from several processes at once. */
export async function ensureSchedule(
  temporal: Temporal,
  { scheduleId, workflowType, taskQueue, args, when }: SystemSchedule,
) {
  const options = {
    scheduleId,
    spec: specOf(when),
    action: { type: 'startWorkflow', workflowType, taskQueue, workflowId: scheduleId, args: args ?? [] },
    // A schedule that ticks all the time need not make up for a tick that it missed.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 'cron' in when ? CATCH_UP : '1 minute' },
  } satisfies ScheduleOptions;
  await putSchedule(temporal, options, (current) => ({ ...current, ...options, state: current.state }));
}

/** So often the schedule may turn out to be the opposite of what was found. */
const TURNS = 3;

const isThere = (error: unknown): boolean => error instanceof ScheduleAlreadyRunning;

/**
 * Also one that is deleted at this moment: it is asked about itself, and ends without an answer, of which the server says so
 * or nothing until the call's own time is over.
 */
const isGone = (error: unknown): boolean =>
  error instanceof ScheduleNotFoundError ||
  (error instanceof ServiceError && /execution closed before|Timeout expired/.test(String(error.cause)));

/**
 * Makes it, or changes the one that is there. What was found of it may have changed before the next call comes: somebody
 * else makes and deletes at the same time.
 * @param isNew which of the two is likely, and so tried first: each is a round trip of a route's few seconds
 */
export async function putSchedule(
  { client: { schedule } }: Temporal,
  options: ScheduleOptions,
  change: Parameters<ScheduleHandle['update']>[0],
  isNew = true,
): Promise<void> {
  for (let left = TURNS; ; left--) {
    try {
      await (isNew ? schedule.create(options) : schedule.getHandle(options.scheduleId).update(change));
      return;
    } catch (error) {
      if (left === 0 || !(isNew ? isThere(error) : isGone(error))) throw error;
      isNew = !isNew;
    }
  }
}

/** Removes a schedule; one that does not exist is no failure. */
export async function removeSchedule(temporal: Temporal, scheduleId: string): Promise<void> {
  await temporal.client.schedule
    .getHandle(scheduleId)
    .delete()
    .catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    });
}
