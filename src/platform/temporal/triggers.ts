/**
 * Schedules that follow a row: a scheduled job, a heartbeat. The row is the record, its revision is in the schedule's note
 * (which the list of schedules shows and an update can change), and bringing a schedule in line with its row is one
 * operation that can be repeated by anybody at any time.
 */
import { ScheduleOverlapPolicy, type ScheduleOptions } from '@temporalio/client';
import type { Log } from '../core/log.ts';
import type { Temporal } from './client.ts';
import { withinDeadline } from './problems.ts';
import { CATCH_UP, putSchedule, removeSchedule, specOf, type When } from './schedules.ts';
import { ofWorkspace, searchAttributes } from './search-attributes.ts';

export interface Trigger {
  scheduleId: string;
  /** The revision grows with each change of the row. */
  revision: number;
  enabled: boolean;
  when: When;
  workflowType: string;
  taskQueue: string;
  args: [object];
  workspaceId: string;
  agent: string;
  /** People see the note in the Temporal Web UI. */
  note: string;
}

const optionsOf = (trigger: Trigger) =>
  ({
    scheduleId: trigger.scheduleId,
    spec: specOf(trigger.when),
    action: {
      type: 'startWorkflow',
      workflowType: trigger.workflowType,
      workflowId: trigger.scheduleId,
      taskQueue: trigger.taskQueue,
      args: trigger.args,
      typedSearchAttributes: searchAttributes(trigger),
      staticSummary: trigger.note,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
    state: { paused: !trigger.enabled, note: `revision ${trigger.revision}` },
    typedSearchAttributes: searchAttributes(trigger),
  }) satisfies ScheduleOptions;

/** A row that was just made has this revision. */
const FIRST_REVISION = 1;

const revisionIn = (note: string | undefined): number | undefined => {
  const [, digits] = /^revision (\d+)$/.exec(note ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
};

/** Rows that schedules follow, as housekeeping compares the two. */
export interface FollowedRows {
  /** The ids of the schedules that are compared begin so. */
  prefix: string;
  /** @returns the triggers that a workspace should have, by its rows: none once it is archived */
  wanted: (customerId: string) => Promise<Trigger[]>;
}

export interface KnownTrigger {
  scheduleId: string;
  revision: number | undefined;
  paused: boolean;
}

export const createTriggers = (temporal: Temporal) => {
  const { schedule } = temporal.client;

  return {
    /** Makes or changes the schedule; one that already has a later revision stays as it is. */
    apply(trigger: Trigger): Promise<void> {
      const options = optionsOf(trigger);
      const isLater = (note: string | undefined) => (revisionIn(note) ?? 0) > trigger.revision;
      return putSchedule(
        temporal,
        options,
        (current) => (isLater(current.state.note) ? current : options),
        trigger.revision === FIRST_REVISION,
      );
    },

    remove: (scheduleId: string): Promise<void> => removeSchedule(temporal, scheduleId),

    /**
     * Lists the schedules of a workspace. The list lags behind by a moment: look again before acting on an absence.
     */
    async *list(workspaceId: string): AsyncGenerator<KnownTrigger> {
      for await (const { scheduleId, state } of schedule.list({ query: ofWorkspace(workspaceId) })) {
        yield { scheduleId, revision: revisionIn(state.note), paused: state.paused };
      }
    },
  };
};
export type WorkflowTriggers = ReturnType<typeof createTriggers>;

/**
 * Keeps a schedule in line with its row. Where Temporal cannot be reached the row goes back, so that a 502 has changed
 * nothing.
 */
export interface FollowRow {
  /**
   * @param undo takes the row back; without it the row stays, and housekeeping has the schedule follow it
   * @throws Problem runtime_unreachable
   */
  change(trigger: Trigger, undo?: () => Promise<unknown>): Promise<void>;
  /** @throws Problem runtime_unreachable */
  remove(scheduleId: string): Promise<void>;
}

export const followingRows = ({
  temporal,
  triggers,
  log,
}: {
  temporal: Temporal;
  triggers: WorkflowTriggers;
  log: Log;
}): FollowRow => ({
  async change(trigger, undo) {
    try {
      await withinDeadline(temporal, () => triggers.apply(trigger));
    } catch (error) {
      await undo?.().catch((err: unknown) =>
        log.error(
          { err, schedule_id: trigger.scheduleId },
          'a change that Temporal refused could not be undone in its row; housekeeping will change the schedule to match',
        ),
      );
      throw error;
    }
  },
  remove: (scheduleId) => withinDeadline(temporal, () => triggers.remove(scheduleId)),
});
