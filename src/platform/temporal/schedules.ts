/** Temporal Schedules: when they fire, those of the system (made once, brought up to date at every start), their removal. */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
  type ScheduleSpec,
} from '@temporalio/client';
import { cronUnion } from '../core/cron.ts';
import type { Temporal } from './client.ts';

/** At every interval, or at times of day (UTC). */
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
    // What ticks all the time need not make a tick good.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 'cron' in when ? CATCH_UP : '1 minute' },
  } satisfies ScheduleOptions;
  try {
    await temporal.client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await temporal.client.schedule
      .getHandle(scheduleId)
      .update((current) => ({ ...current, ...options, state: current.state }));
  }
}

/** One that is not there is no failure. */
export async function removeSchedule(temporal: Temporal, scheduleId: string): Promise<void> {
  await temporal.client.schedule
    .getHandle(scheduleId)
    .delete()
    .catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    });
}
