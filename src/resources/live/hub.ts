/**
 * One tail for all who listen in this process: while there are any, it reads four times a second what is new of their
 * workspaces, in one statement, and hands it out in memory. Without listeners it reads nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../../platform/core/log.ts';
import { urgently } from '../../platform/db/client.ts';
import type { Place } from '../event-log/model.ts';
import type { EventLogStore, LogRow } from '../event-log/store/read.ts';
import type { Texts } from './texts.ts';

const POLL_MS = 250;
/** Of one read; what is beyond it is read at once. */
const MOST_ROWS = 2_000;

/** A turn is recorded, or there will be no more. */
const RECORDS_TURN = new Set(['claude_iteration', 'run_completed', 'run_failed', 'run_cancelled']);

export interface Listener {
  customerId: string;
  /** Hears each event of its workspace, in order. */
  hear(row: LogRow): void;
}

interface HubDependencies {
  store: Pick<EventLogStore, 'lastingEnd' | 'readTail'>;
  texts: Pick<Texts, 'round' | 'isRecorded'>;
  log: Log;
}

export function createHub({ store, texts, log }: HubDependencies) {
  const listeners = new Map<string, Set<Listener>>();
  /** Everything up to here was handed out; undefined while nobody listens. */
  let position: Place | undefined;
  /** Where those begin who want what is to come, asked for once for all who come between two rounds. */
  let end: Place | undefined;
  /** A round that is under way, or the start: nobody joins meanwhile, as it would not know of them. */
  let busy: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A round is nobody's request, whoever's stream it was begun for.
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
      // Also where this fails: those who come next begin where the log ends by then.
      end = undefined;
      const page = await store.readTail([...listeners.keys()], { after: position!, limit: MOST_ROWS });
      // Read after the events and handed out before them: a text is whole before it is told that its turn is over.
      await texts.round().catch((err: unknown) => log.debug({ err }, 'texts could not be read'));
      for (const row of page.rows) {
        for (const listener of listeners.get(row.customerId) ?? []) listener.hear(row);
        if (row.runId !== null && RECORDS_TURN.has(row.topic)) texts.isRecorded(row.runId);
      }
      // Not up to the horizon: numbers of transactions of which nothing was on the disk are given again after a crash of the
      // database, and what such a one writes would stand before a place that nobody has seen anything at.
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
     * @returns from where on the listener hears everything, what is up to there it reads for itself; and where the log ends
     * now, which may be later
     */
    async join(listener: Listener): Promise<{ joined: Place; end: Place }> {
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

    leave(listener: Listener): void {
      const ofWorkspace = listeners.get(listener.customerId);
      ofWorkspace?.delete(listener);
      if (ofWorkspace?.size === 0) listeners.delete(listener.customerId);
      if (listeners.size === 0 && !busy) next(0);
    },
  };
}
