/** Temporal Schedules: made once, brought up to date at every start. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type ScheduleOptions } from '@temporalio/client';
import type { Temporal } from './client.ts';

export interface SystemSchedule {
  scheduleId: string;
  workflowType: string;
  taskQueue: string;
  everyMs: number;
}

/** A schedule whose action runs at every interval, one at a time. Safe to repeat, and from several processes at once. */
export async function ensureSchedule(
  temporal: Temporal,
  { scheduleId, workflowType, taskQueue, everyMs }: SystemSchedule,
) {
  const options = {
    scheduleId,
    spec: { intervals: [{ every: everyMs }] },
    action: { type: 'startWorkflow', workflowType, taskQueue, workflowId: scheduleId, args: [] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
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
