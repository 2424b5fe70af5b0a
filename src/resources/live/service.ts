/** Streams of a workspace's events: what was, from a cursor on, and then what comes. */
import type { Config } from '../../platform/core/config.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Caller, EventStream } from '../../platform/http/endpoint.ts';
import { endFrame, frameOf } from '../../platform/http/stream.ts';
import { BEGINNING, cursorOf, isAfter, placeOf, type Place } from '../event-log/model.ts';
import type { EventFilter, EventLogStore, LogRow } from '../event-log/store/read.ts';
import { LiveEvent, type LiveQuery } from './contract.ts';
import { createHub, type Listener } from './hub.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';

export type LiveService = ReturnType<typeof createLiveService>;

interface Dependencies {
  store: EventLogStore;
  settings: Pick<Config, 'LIVE_STREAMS' | 'LIVE_STREAMS_PER_WORKSPACE' | 'LIVE_STREAM_LIFE'>;
  log: Log;
}

/** Events that are read at once of what was. */
const PAGE = 200;

export function createLiveService({ store, settings, log }: Dependencies) {
  const hub = createHub({ store, log });
  /** The streams that are open, by workspace. */
  const open = new Map<string, Set<Mailbox>>();
  let isClosing = false;

  /** @throws Problem too_many_streams */
  function admit(customerId: string, mailbox: Mailbox): () => void {
    const ofWorkspace = open.get(customerId) ?? new Set();
    const all = [...open.values()].reduce((sum, { size }) => sum + size, 0);
    const refuse = (scope: 'workspace' | 'process', limit: number): never => {
      throw new Problem('too_many_streams', { code: 'too_many_streams', scope, limit });
    };
    if (ofWorkspace.size >= settings.LIVE_STREAMS_PER_WORKSPACE)
      refuse('workspace', settings.LIVE_STREAMS_PER_WORKSPACE);
    if (all >= settings.LIVE_STREAMS) refuse('process', settings.LIVE_STREAMS);
    open.set(customerId, ofWorkspace.add(mailbox));
    return () => {
      ofWorkspace.delete(mailbox);
      if (ofWorkspace.size === 0) open.delete(customerId);
    };
  }

  /** Where a cursor stands, and whether something after it is not kept any more. @throws Problem cursor_unknown */
  async function resume(customerId: string, cursor: string): Promise<{ after: Place; keptFrom?: number }> {
    if (cursor === '0') return { after: BEGINNING };
    const after = placeOf(cursor);
    const unknown =
      'cursor_unknown: it is none of this service; leave it out to begin now, or 0 for the oldest event kept';
    if (!after || isAfter(after, await store.end())) throw new Problem('cursor_unknown', unknown);
    const keptFrom = await store.keptFrom(customerId);
    return after.tx < keptFrom ? { after, keptFrom } : { after };
  }

  async function* events(
    customerId: string,
    filter: EventFilter,
    from: Awaited<ReturnType<typeof resume>> | undefined,
    { mailbox, gone }: { mailbox: Mailbox; gone: AbortSignal },
  ): AsyncGenerator<string> {
    let after = from?.after;
    const listener: Listener = {
      customerId,
      hear(row) {
        if (isWanted(row, filter) && (!after || isAfter(row, after))) mailbox.push(frameOfRow(row));
      },
    };
    const life = setTimeout(() => mailbox.close(endFrame('life')), settings.LIVE_STREAM_LIFE);
    gone.addEventListener('abort', () => mailbox.close());
    if (gone.aborted) mailbox.close();
    try {
      const joined = await hub.join(listener);
      after ??= joined;
      yield frameOf({ id: cursorOf(after), event: 'open', data: { cursor: cursorOf(after) }, retryMs: 1_000 });
      if (from?.keptFrom !== undefined) {
        yield frameOf({
          event: 'gap',
          data: { after: cursorOf(after), kept_from: cursorOf({ tx: from.keptFrom, seq: 0 }) },
        });
      }
      for (let at = after; isAfter(joined, at) && !gone.aborted;) {
        const { rows, next } = await store.readPage(customerId, filter, { after: at, until: joined, limit: PAGE });
        if (rows.length > 0) yield rows.map(frameOfRow).join('');
        at = next;
      }
      for (let frames = await mailbox.take(); frames !== undefined; frames = await mailbox.take()) yield frames;
    } finally {
      clearTimeout(life);
      hub.leave(listener);
    }
  }

  return {
    /** @throws Problem cursor_unknown, too_many_streams */
    async follow(
      { customerId }: Caller,
      { after, kind, run_id: runId, project_id: projectId }: LiveQuery,
    ): Promise<EventStream> {
      const from = after === undefined ? undefined : await resume(customerId, after);
      const mailbox = createMailbox();
      const leave = admit(customerId, mailbox);
      if (isClosing) mailbox.close(endFrame('shutdown'));
      return async function* (gone) {
        try {
          yield* events(customerId, { kinds: kind, runId, projectId }, from, { mailbox, gone });
        } finally {
          leave();
        }
      };
    },

    /** Ends every stream, so that clients go on with another process. */
    close(): void {
      isClosing = true;
      for (const mailboxes of open.values()) for (const mailbox of mailboxes) mailbox.close(endFrame('shutdown'));
    },
  };
}

const isWanted = (row: LogRow, { kinds, runId, projectId }: EventFilter): boolean =>
  (kinds === undefined || kinds.includes(row.kind)) &&
  (runId === undefined || row.runId === runId) &&
  (projectId === undefined || row.projectId === projectId);

/** Made once of a row, for all streams that it goes to. */
const frames = new WeakMap<LogRow, string>();
function frameOfRow(row: LogRow): string {
  const made = frames.get(row);
  if (made !== undefined) return made;
  const cursor = cursorOf(row);
  const data = LiveEvent.parse({
    cursor,
    kind: row.kind,
    ts: row.ts,
    topic: row.topic,
    run_id: row.runId,
    project_id: row.projectId,
    event: row.data,
  });
  const frame = frameOf({ id: cursor, event: row.kind, data });
  frames.set(row, frame);
  return frame;
}
