/**
 * Starts the workflows of rows: a row is accepted first and its workflow started after it, by an id that keeps it from
 * running twice.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Log } from '../core/log.ts';
import type { Taken, Turn } from '../db/in-turn.ts';
import { createRounds } from './rounds.ts';
import { sideBySide } from './side-by-side.ts';

/** A start of which nobody has heard is tried again after this time. */
export const START_AGAIN_MS = 30_000;

/**
 * Notes of starts are gathered for this long, so that one statement tells the record of many, most of which have ended.
 * Well below the 15 s after which a row is due.
 */
const GATHER_MS = 5_000;

/**
 * Makes what starts the workflow of a row unless its id is taken, and tells the record which starts Temporal has
 * acknowledged, so that work which only waits for its turn is not started again. If that fails, because the process died
 * or the database was away, the workflow is started once more, which changes nothing.
 * @param note by then a row may wait for another start than the one that is noted
 */
export function createStarter<Row>(note: (rows: readonly Row[]) => Promise<unknown>) {
  let gathered: Row[] = [];
  function noteSoon(row: Row): void {
    gathered.push(row);
    if (gathered.length > 1) return;
    const tell = () => {
      const rows = gathered;
      gathered = [];
      note(rows).catch(() => {});
    };
    setTimeout(tell, GATHER_MS).unref();
  }

  /**
   * @param start has to fail where a workflow with that id is under way or has ended, which is Temporal's default
   * @returns whether it started
   */
  return async function startOnce(row: Row, start: () => Promise<unknown>): Promise<boolean> {
    const isStarted = await start().then(
      () => true,
      (error: unknown) => {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      },
    );
    noteSoon(row);
    return isStarted;
  };
}

export interface LostStarts<Row extends { id: string }> {
  take: (turn: Turn) => Promise<Taken>;
  load: (ids: readonly string[]) => Promise<Row[]>;
  /** Notes the start. @returns whether the workflow started */
  start: (row: Row) => Promise<boolean>;
  /** The log calls the rows by this name, such as `run`. */
  what: string;
  log: Log;
}

/** Makes a chore that starts what was accepted and whose start nobody has acknowledged. Each start is idempotent. */
export function createLostStarts<Row extends { id: string }>({ take, load, start, what, log }: LostStarts<Row>) {
  let started = 0;
  const failed = (err: unknown, { id }: Row) =>
    log.error({ err, [`${what}_id`]: id }, `a ${what} could not be started`);
  async function handle(row: Row): Promise<void> {
    if (await start(row)) started++;
  }
  const round = createRounds({ take, load, handle, failed });
  return async (signal: AbortSignal): Promise<void> => {
    await round(signal);
    if (started > 0) log.info({ what, started }, 'started accepted work whose first start was lost');
    started = 0;
  };
}

export interface RowsToStart<Row extends { deliveryId: string }> {
  listStartable: (ids: readonly string[]) => Promise<Row[]>;
  takeDue: (turn: Turn) => Promise<Taken>;
  /** Notes that Temporal has them; whether it still has them is looked at much later. */
  noteStarted: (rows: readonly Row[]) => Promise<unknown>;
  recordExhausted: (row: Row) => Promise<void>;
  /** Fails where its workflow has started already. @throws Problem runtime_unreachable */
  start: (row: Row) => Promise<unknown>;
  /** Says whether the workflow of a row, whose start found the id taken, has ended. */
  hasEnded: (row: Row) => Promise<boolean>;
  log: Log;
}

/** Starts the workflows of recorded deliveries. */
export function createDeliveryStarter<Row extends { deliveryId: string }>(rows: RowsToStart<Row>) {
  const startOnce = createStarter(rows.noteStarted);
  const start = (row: Row): Promise<boolean> => startOnce(row, () => rows.start(row));
  return {
    /** @throws Problem runtime_unreachable */
    async startRecorded(ids: readonly string[]): Promise<void> {
      await sideBySide(await rows.listStartable(ids), start);
    },

    /** This chore starts deliveries of every workspace that are pending and not under way. */
    startDue: createLostStarts({
      take: rows.takeDue,
      load: async (ids) => (await rows.listStartable(ids)).map((row) => ({ id: row.deliveryId, row })),
      async start({ row }) {
        const isStarted = await start(row);
        // Its workflow has ended without a record (somebody terminated it), so nothing will send the delivery any more.
        if (!isStarted && (await rows.hasEnded(row))) await rows.recordExhausted(row);
        return isStarted;
      },
      what: 'delivery',
      log: rows.log,
    }),
  };
}
