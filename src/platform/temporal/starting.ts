/** Workflows of rows: the row is accepted first and its workflow started after, by an id that keeps it from running twice. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

/** @returns false when the workflow has ended already */
export async function startOnce(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start();
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

export interface PendingPage {
  olderThanS: number;
  after: string | undefined;
  limit: number;
}

export interface RowsToStart<Row extends { deliveryId: string }> {
  listStartable: (ids: readonly string[]) => Promise<Row[]>;
  /** Those that are recorded and not done, over all workspaces, by their id. */
  listPending: (page: PendingPage) => Promise<Row[]>;
  recordExhausted: (row: Row) => Promise<void>;
  /** @returns as `startOnce` does. @throws Problem runtime_unreachable */
  start: (row: Row) => Promise<boolean>;
}

/** A start may be on its way for that long. */
const LOST_AFTER_S = 15;
const BATCH = 50;

/** The workflows of recorded deliveries. */
export const createDeliveryStarter = <Row extends { deliveryId: string }>(rows: RowsToStart<Row>) => ({
  /** @throws Problem runtime_unreachable */
  async startRecorded(ids: readonly string[]): Promise<void> {
    await Promise.all((await rows.listStartable(ids)).map(rows.start));
  },

  /** Housekeeping: starts what is pending and not under way, in every workspace. */
  async startPending(): Promise<void> {
    for (let after: string | undefined; ;) {
      const batch = await rows.listPending({ olderThanS: LOST_AFTER_S, after, limit: BATCH });
      await Promise.all(
        batch.map(async (row) => {
          // Its workflow has ended without a record (terminated by hand): nothing will send it any more.
          if (!(await rows.start(row))) await rows.recordExhausted(row);
        }),
      );
      after = batch.at(-1)?.deliveryId;
      if (batch.length < BATCH) return;
    }
  },
});
