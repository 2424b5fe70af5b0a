/**
 * Makes the streams of a workspace's events. Each begins with what happened after its cursor, which it reads in pages for
 * itself, and goes on with what happens, which the hub reads for all streams together.
 */
import type { Config } from '../../platform/core/config.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Caller, EventStream } from '../../platform/http/endpoint.ts';
import { endFrame, frameOf } from '../../platform/http/stream.ts';
import { BEGINNING, cursorOf, isAfter, placeOf, type Place } from '../event-log/model.ts';
import type { EventFilter, EventLogStore, LogRow } from '../event-log/store/read.ts';
import { watchOf } from '../run-texts/model.ts';
import type { RunTextStore } from '../run-texts/store.ts';
import { LiveEvent, type LiveQuery } from './contract.ts';
import { createHub, type LiveListener } from './hub.ts';
import { createTexts, type TextListener, type TextPiece } from './texts.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';

export type LiveService = ReturnType<typeof createLiveService>;

interface Dependencies {
  store: EventLogStore;
  texts: RunTextStore;
  settings: Pick<Config, 'LIVE_STREAMS' | 'LIVE_STREAMS_PER_WORKSPACE' | 'LIVE_STREAM_LIFE' | 'EXTENSIONS'>;
  log: Log;
}

interface Following {
  customerId: string;
  filter: EventFilter;
  from: { after: Place; keptFrom?: number } | undefined;
  withText: boolean;
  isLast: (row: LogRow) => boolean;
}

interface StateFollowing<State> extends Pick<Following, 'customerId' | 'filter' | 'withText'> {
  read: () => Promise<State>;
  hasEnded: (state: State) => boolean;
}

/** A stream reads past events in pages of this size. */
const PAGE = 200;

export function createLiveService({ store, texts: textStore, settings, log }: Dependencies) {
  const texts = createTexts(textStore);
  const hub = createHub({ store, texts, log });
  /** The mailboxes of the streams that are open, by workspace. */
  const open = new Map<string, Set<Mailbox>>();
  let isClosing = false;

  /**
   * Counts a stream, which the returned function gives back.
   * @throws Problem too_many_streams
   */
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

  /**
   * Finds the place of a cursor.
   * @returns with `keptFrom` where some events after the cursor are not kept any more
   * @throws Problem cursor_unknown
   */
  async function resume(customerId: string, cursor: string): Promise<{ after: Place; keptFrom?: number }> {
    if (cursor === '0') return { after: BEGINNING };
    const after = placeOf(cursor);
    const unknown =
      'cursor_unknown: it is none of this service; leave it out to begin now, or 0 for the oldest event kept';
    if (!after || isAfter(after, await store.end())) throw new Problem('cursor_unknown', unknown);
    const keptFrom = await store.keptFrom(customerId);
    return after.tx < keptFrom ? { after, keptFrom } : { after };
  }

  /**
   * Opens a stream that counts against the limits until it is over.
   * @throws Problem too_many_streams
   */
  function opened(
    customerId: string,
    work: (mailbox: Mailbox, gone: AbortSignal) => AsyncGenerator<string>,
  ): EventStream {
    const mailbox = createMailbox();
    const leave = admit(customerId, mailbox);
    if (isClosing) mailbox.close(endFrame('shutdown'));
    return async function* (gone) {
      const life = setTimeout(() => mailbox.close(endFrame('life')), settings.LIVE_STREAM_LIFE);
      gone.addEventListener('abort', () => mailbox.close());
      if (gone.aborted) mailbox.close();
      try {
        yield* work(mailbox, gone);
      } finally {
        clearTimeout(life);
        leave();
      }
    };
  }

  const readerOf = (customerId: string, filter: EventFilter, mailbox: Mailbox): TextListener => ({
    customerId,
    watched: watchOf(filter),
    hear: (piece) => mailbox.push(frameOfText(piece)),
  });

  async function* events(
    mailbox: Mailbox,
    gone: AbortSignal,
    { customerId, filter, from, withText, isLast }: Following,
  ) {
    let after = from?.after;
    const told = (row: LogRow): string => frameOfRow(row) + (isLast(row) ? endFrame('ended') : '');
    const listener: LiveListener = {
      customerId,
      hear(row) {
        if (!isWanted(row, filter) || (after && !isAfter(row, after))) return;
        mailbox.push(frameOfRow(row));
        if (isLast(row)) mailbox.close(endFrame('ended'));
      },
    };
    const reader = readerOf(customerId, filter, mailbox);
    try {
      const { joined, end } = await hub.join(listener);
      after ??= end;
      yield frameOf({ id: cursorOf(after), event: 'open', data: { cursor: cursorOf(after) }, retryMs: 1_000 });
      let at = after;
      async function* upTo(until: Place): AsyncGenerator<string, boolean> {
        while (isAfter(until, at) && !gone.aborted) {
          const { rows, next } = await store.readPage(customerId, filter, { after: at, until, limit: PAGE });
          if (rows.length > 0) yield rows.map(told).join('');
          if (rows.some(isLast)) return true;
          at = next;
        }
        return false;
      }
      if (from?.keptFrom !== undefined) {
        // Events before the gap that are still kept come first. The gap has a cursor of its own, so that a client which was told
        // of it resumes after it and is not told again.
        const kept = { tx: from.keptFrom, seq: 0 };
        if (yield* upTo(isAfter(joined, kept) ? kept : joined)) return;
        const kept_from = cursorOf(kept);
        yield frameOf({ id: kept_from, event: 'gap', data: { after: cursorOf(after), kept_from } });
      }
      if (yield* upTo(joined)) return;
      // Texts are asked for only now, because by then the texts of past turns are over and need not be sent.
      if (withText) await texts.watch(reader);
      for (let frames = await mailbox.take(); frames !== undefined; frames = await mailbox.take()) yield frames;
    } finally {
      hub.leave(listener);
      texts.leave(reader);
    }
  }

  async function* states<State>(
    mailbox: Mailbox,
    { customerId, filter, withText, read, hasEnded }: StateFollowing<State>,
  ) {
    let heard: Place | undefined;
    const listener: LiveListener = {
      customerId,
      hear(row) {
        if (!isWanted(row, filter)) return;
        heard = row;
        mailbox.push('');
      },
    };
    const reader = readerOf(customerId, filter, mailbox);
    try {
      let last = '';
      // It joins before it reads the state, so that a change after the read is heard of.
      heard = (await hub.join(listener)).end;
      if (withText) await texts.watch(reader);
      for (let frames: string | undefined = ''; frames !== undefined; frames = await mailbox.take()) {
        if (frames !== '') yield frames;
        if (!heard) continue;
        const id = cursorOf(heard);
        heard = undefined;
        const state = await read();
        const now = JSON.stringify(state);
        if (now !== last) yield frameOf({ id, event: 'status', data: state, retryMs: 1_000 });
        last = now;
        if (hasEnded(state)) mailbox.close(endFrame('ended'));
      }
    } finally {
      hub.leave(listener);
      texts.leave(reader);
    }
  }

  return {
    /** Whether the documented endpoints give streams to who asks for them. */
    isOnDocumented: settings.EXTENSIONS.has('sse'),

    /**
     * Follows the events of a workspace.
     * @param isLast tells whether this event ends what is followed, so that the stream can end too
     * @throws Problem cursor_unknown, too_many_streams
     */
    async follow(
      { customerId }: Caller,
      { after, kind, run_id: runId, project_id: projectId, text }: LiveQuery,
      isLast: (row: LogRow) => boolean = () => false,
    ): Promise<EventStream> {
      const from = after === undefined ? undefined : await resume(customerId, after);
      const withText = text ?? (runId !== undefined || projectId !== undefined);
      const filter = { kinds: kind, runId, projectId };
      return opened(customerId, (mailbox, gone) =>
        events(mailbox, gone, { customerId, filter, from, withText, isLast }),
      );
    },

    /**
     * Follows the state of one run or project: it is sent each time it has changed, and between that come texts.
     * @throws Problem too_many_streams, and what reading it throws
     */
    async followState<State>(
      { customerId }: Caller,
      { text: withText = true, ...filter }: Pick<EventFilter, 'runId' | 'projectId'> & Pick<LiveQuery, 'text'>,
      read: () => Promise<State>,
      hasEnded: (state: State) => boolean,
    ): Promise<EventStream> {
      await read();
      return opened(customerId, (mailbox) => states(mailbox, { customerId, filter, withText, read, hasEnded }));
    },

    /** Ends every stream because the process is about to end; clients connect again and reach another process. */
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

/** Keeps the frame of each row, which is made once for all streams that send it. */
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

/** Keeps the frame of each piece, which likewise goes to every stream that watches it. */
const textFrames = new WeakMap<TextPiece, string>();
function frameOfText(piece: TextPiece): string {
  const { runId, projectId, turn, attempt, offset, text } = piece;
  const made =
    textFrames.get(piece) ??
    frameOf({ event: 'text', data: { run_id: runId, project_id: projectId, turn, attempt, offset, text } });
  textFrames.set(piece, made);
  return made;
}
