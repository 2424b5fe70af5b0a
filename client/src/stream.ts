/**
 * Follows a stream of the service for as long as it is wanted. A stream that ends, breaks or falls silent is asked for
 * anew after the last event that came, so that each event is seen once and none is missed.
 */
import { AosError, ConnectionError, isProblem, serviceError } from './errors.ts';
import type { LiveEnd } from './generated/types.gen.ts';
import { readServerSentEvents, type ServerSentEvent } from './sse.ts';
import { backoffMs, type Transport } from './transport.ts';
import { delay } from './waiting.ts';

export interface FollowOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** The cursor of the last event that was seen. The stream goes on after it. */
  after?: string | undefined;
}

/** Heartbeats come every 15 s, so the other end of a stream that is silent for this long is gone. */
const SILENCE_MS = 45_000;

/** The service has no stream at this address, so the caller has to poll instead. */
export class NoStreamError extends AosError {
  override name = 'NoStreamError';
  /** The answer that came instead of a stream, where that is JSON. */
  readonly answer: unknown;
  constructor(answer: unknown) {
    super('the service has no stream here');
    this.answer = answer;
  }
}

/** Tells whether to read lists instead, because the service is older or has no place for another listener. */
export const hasNoStream = (error: unknown): boolean =>
  error instanceof NoStreamError || isProblem(error, 'not_found', 'too_many_streams');

/** Reads the `data` of an event, which the contract of the stream types. */
export const dataOf = <Data>({ data }: ServerSentEvent): Data => JSON.parse(data) as Data;

/**
 * Yields events over as many connections as that takes, until what is followed has ended; a workspace never ends.
 * @param request makes the request of one connection, without what this function adds to it
 * @throws NoStreamError where the service answers with something else, ServiceError where it refuses
 */
export async function* followStream(
  transport: Pick<Transport, 'fetch'>,
  request: () => Request,
  { signal, after }: FollowOptions,
): AsyncGenerator<ServerSentEvent> {
  let cursor = after;
  let wait = 0;
  let hasOpened = false;
  for (let failed = 0; ;) {
    signal?.throwIfAborted();
    const silence = new AbortController();
    const ends = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const onLife = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    };
    try {
      const stream = await openStream(transport, request(), cursor, ends);
      hasOpened = true;
      const given = [silence.signal, ...(signal ? [signal] : [])];
      for await (const event of readServerSentEvents(stream, { onLife, onRetry: (ms) => (wait = ms), ends: given })) {
        failed = 0;
        if (event.id) cursor = event.id;
        if (event.event !== 'end') yield event;
        else if (dataOf<LiveEnd>(event).reason === 'ended') return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error, hasOpened) && !silence.signal.aborted) throw error;
      wait = isProblem(error) ? (error.retryAfterMs ?? 0) : 0;
    } finally {
      clearTimeout(timer);
    }
    await delay(Math.max(wait, backoffMs(failed)), signal);
    failed += 1;
  }
}

async function openStream(
  transport: Pick<Transport, 'fetch'>,
  request: Request,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = new Headers(request.headers);
  headers.set('accept', 'text/event-stream, application/json;q=0.5');
  if (cursor !== undefined) headers.set('last-event-id', cursor);
  const response = await transport.fetch(new Request(request, { headers, signal }));
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const answer: unknown = await response.json().catch(() => undefined);
    throw response.ok ? new NoStreamError(answer) : serviceError(response, answer);
  }
  if (!response.body) throw new NoStreamError(undefined);
  return response.body;
}

/**
 * Tells whether an error will pass: a lost connection, a restart, or too many streams where this one had a place
 * before.
 */
const isPassing = (error: unknown, hasOpened: boolean): boolean => {
  if (isProblem(error)) return error.status >= 500 || (error.status === 429 && hasOpened);
  return error instanceof ConnectionError || error instanceof TypeError;
};
