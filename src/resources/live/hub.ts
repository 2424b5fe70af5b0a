/**
 * Reads the end of the log for all who listen in this process. While there are any, it asks four times a second what is
 * new in their workspaces, in one statement, and hands it out in memory. So the database does the same work for one
 * listener as for a thousand, and none where nobody listens. A NOTIFY for each commit would be sooner, but it takes one
 * lock over all commits of a database.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../../platform/core/log.ts';
import { urgently } from '../../platform/db/client.ts';
import type { Place } from '../event-log/model.ts';
import type { EventLogStore, LogRow } from '../event-log/store/read.ts';
import type { Texts } from './texts.ts';

const POLL_MS = 250;
/** One read takes no more rows than this. Where it is full, the next follows at once and not after the pause. */
const MOST_ROWS = 2_000;

/** After these events of a run, the text that its model was writing is recorded, or will not be. */
const RECORDS_TURN = new Set(['claude_iteration', 'run_completed', 'run_failed', 'run_cancelled']);

export interface LiveListener {
  customerId: string;
  /** Is called with each event of its workspace, in order. */
  hear(row: LogRow): void;
}

interface HubDependencies {
  store: Pick<EventLogStore, 'lastingEnd' | 'readTail'>;
  texts: Pick<Texts, 'round' | 'isRecorded'>;
  log: Log;
}

export function createHub({ store, texts, log }: HubDependencies) {
  const listeners = new Map<string, Set<LiveListener>>();
  /** Everything up to this place was handed out. It is undefined while nobody listens, because nothing is read then. */
  let position: Place | undefined;
  /**
   * The end of the log, where those begin who want only what is to come. It is asked for once for all who come between
   * two rounds, so that a thousand clients which connect again together do not ask a thousand times.
   */
  let end: Place | undefined;
  /**
   * The round that is under way, or the question where the log ends. Nobody joins meanwhile: the round has asked for the
   * workspaces that it knew of, and would pass over what happened in another.
   */
  let busy: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A round is for all listeners. Without this it would run in the context of the request that happened to begin it, and
  // be traced and logged as part of that.
  const forAll = AsyncLocalStorage.snapshot();
  const later = (waitMs: number) => setTimeout(() => forAll(() => urgently(round)), waitMs);

  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const done = work().finally(() => (busy = undefined));
    busy = done;
    return done;
  };

  function next(waitMs: number): void {
    clearTimeout(timer);
    timer = listeners.size > 0 ? later(waitMs) : undefined;
    if (timer) return;
    position = undefined;
    end = undefined;
  }

  async function round(): Promise<void> {
    let isMore = false;
    await exclusively(async () => {
      // This stands before the read because the read may fail: those who come after that begin where the log ends by then.
      end = undefined;
      const page = await store.readTail([...listeners.keys()], { after: position!, limit: MOST_ROWS });
      // Texts are read after the events and handed out before them, so that a text is complete before its reader is told that
      // the turn is over.
      await texts.round().catch((err: unknown) => log.debug({ err }, 'texts could not be read'));
      for (const row of page.rows) {
        for (const listener of listeners.get(row.customerId) ?? []) listener.hear(row);
        if (row.runId !== null && RECORDS_TURN.has(row.topic)) texts.isRecorded(row.runId);
      }
      // The place moves to the last event, and not to the horizon up to which was read. After a crash the database gives out
      // again the numbers of transactions that had not reached its disk, and what is then written under such a number would
      // stand before the horizon and never be told.
      const last = page.rows.at(-1);
      if (last) position = { tx: last.tx, seq: last.seq };
      isMore = page.rows.length === MOST_ROWS;
    }).catch((err: unknown) =>
      log.warn({ err }, 'events could not be read; the next round goes on from the same place'),
    );
    next(isMore ? 0 : POLL_MS);
  }

  return {
    /**
     * Adds a listener.
     * @returns `joined`: the listener hears everything after this place, and reads for itself what it wants of before;
     * `end`: where the log ends now, which may be later
     */
    async join(listener: LiveListener): Promise<{ joined: Place; end: Place }> {
      while (busy) await busy.catch(() => {});
      const now = end ?? (await exclusively(async () => (end = await store.lastingEnd())));
      if (!position) {
        position = now;
        timer = later(POLL_MS);
      }
      const ofWorkspace = listeners.get(listener.customerId) ?? new Set();
      listeners.set(listener.customerId, ofWorkspace.add(listener));
      return { joined: position, end: now };
    },

    leave(listener: LiveListener): void {
      const ofWorkspace = listeners.get(listener.customerId);
      ofWorkspace?.delete(listener);
      if (ofWorkspace?.size === 0) listeners.delete(listener.customerId);
      if (listeners.size === 0 && !busy) next(0);
    },
  };
}
