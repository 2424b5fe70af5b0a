/**
 * Server-sent events: how one is written, and how a stream of them is sent. Whatever the stream is of, it says that it is
 * alive, ends within seconds when its caller may not see it any more, and never holds more than its reader can take.
 */
import type { Request, Response } from 'express';
import { once } from 'node:events';
import { sha256 } from '../core/crypto.ts';
import { Problem } from '../core/problem.ts';
import { urgently } from '../db/client.ts';
import { SESSION_HEADER, type Caller, type EventStream } from './endpoint.ts';

const HEARTBEAT_MS = 15_000;
/** A session that was ended is noticed after this time at the latest. */
const ADMISSION_MS = 3_000;
/** A reader that has taken nothing for so long is given up. */
const STUCK_MS = 30_000;

export interface Frame {
  /** A client that has seen the event resumes here. */
  id?: string;
  event: string;
  data: unknown;
  /** A client waits so long before it connects again. */
  retryMs?: number;
}

/** Writes one event as the wire has it. JSON has no line breaks, so `data` is one line. */
export const frameOf = ({ id, event, data, retryMs }: Frame): string =>
  [
    ...(id === undefined ? [] : [`id: ${id}`]),
    `event: ${event}`,
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    `data: ${JSON.stringify(data)}`,
    '\n',
  ].join('\n');

/**
 * `ended` says that what was followed has come to its end, and nothing more will come; the other reasons are about this
 * connection.
 */
export const STREAM_ENDS = ['ended', 'life', 'shutdown', 'slow_reader', 'signed_out'] as const;

/** @returns the last event of a stream, which says why it ends; whoever still wants the stream connects again */
export const endFrame = (reason: (typeof STREAM_ENDS)[number]): string =>
  frameOf({ event: 'end', data: { reason }, retryMs: 1_000 });

export type StreamSender = ReturnType<typeof createStreamSender>;

interface Open {
  admit: () => Promise<Caller | void>;
  /** Is told what `admit` of any stream of the credential gave. */
  admitted: (caller: Caller) => void;
  end: () => void;
}

interface StreamTimes {
  heartbeatMs?: number;
  admissionMs?: number;
}

/**
 * Makes the sender of one surface. It checks again and again who may still read, once for all streams of one
 * credential.
 */
export function createStreamSender({ heartbeatMs = HEARTBEAT_MS, admissionMs = ADMISSION_MS }: StreamTimes = {}) {
  const byCredential = new Map<string, Set<Open>>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (const streams of [...byCredential.values()]) {
      const [one] = streams;
      try {
        const caller = await one?.admit();
        if (caller) for (const stream of streams) stream.admitted(caller);
      } catch (error) {
        // Any other error says nothing about the session: nobody's session has ended because the database is away.
        if (error instanceof Problem) for (const stream of streams) stream.end();
      }
    }
    isChecking = false;
  }

  function watch(credential: string, stream: Open): () => void {
    const streams = byCredential.get(credential) ?? new Set();
    byCredential.set(credential, streams.add(stream));
    timer ??= setInterval(() => void urgently(check), admissionMs);
    return () => {
      streams.delete(stream);
      if (streams.size === 0) byCredential.delete(credential);
      if (byCredential.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }

  /** Resolves when the stream has ended, whoever ended it. */
  return async (
    request: Request,
    response: Response,
    stream: EventStream,
    admit: () => Promise<Caller | void>,
    admitted: (caller: Caller) => void = () => {},
  ) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    if (response.destroyed) gone.abort();
    const credential = sha256(`${request.get(SESSION_HEADER)} ${request.get('authorization')}`);
    const unwatch = watch(credential, {
      admit,
      admitted,
      end() {
        if (!gone.signal.aborted) response.end(endFrame('signed_out'));
        gone.abort();
      },
    });
    const heartbeat = setInterval(() => {
      if (!response.writableNeedDrain && !response.writableEnded) response.write(':\n\n');
    }, heartbeatMs);
    try {
      response.status(200).set({
        'content-type': 'text/event-stream',
        // Nothing on the way may store the stream, compress it or hold it back.
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      });
      response.flushHeaders();
      (response.locals as { beginsStream?: () => void }).beginsStream?.();
      for await (const frames of stream(gone.signal)) {
        if (gone.signal.aborted) break;
        if (!response.write(frames)) await drained(response, gone.signal);
      }
    } finally {
      unwatch();
      clearInterval(heartbeat);
      if (!response.writableEnded) response.end();
    }
  };
}

/** Waits until the reader has taken what was written, or is gone; one that takes nothing is given up. */
async function drained(response: Response, gone: AbortSignal): Promise<void> {
  const stuck = setTimeout(() => response.destroy(), STUCK_MS);
  // It rejects when the reader is gone, of which the signal tells.
  await once(response, 'drain', { signal: gone }).catch(() => {});
  clearTimeout(stuck);
}
