/**
 * A stream of the service for as long as it is wanted. One that ends, or breaks, or falls silent is asked for anew after the
 * last event that came, so that each event is seen once and none is missed.
 */
import { AosError, ConnectionError, isProblem, serviceError } from './errors.ts';
import type { LiveEnd } from './generated/types.gen.ts';
import { readServerSentEvents, type ServerSentEvent } from './sse.ts';
import { backoffMs, type Transport } from './transport.ts';
import { delay } from './waiting.ts';

export interface FollowOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** Cursor of the last event that was seen: the stream goes on after it. */
  after?: string | undefined;
}

/** Heartbeats come each 15 s: a stream without is one whose other end is gone. */
const SILENCE_MS = 45_000;

/** The service has no stream at this address: it is to be asked again and again instead. */
export class NoStreamError extends AosError {
  override name = 'NoStreamError';
  /** What it answered instead, where that is JSON. */
  readonly answer: unknown;
  constructor(answer: unknown) {
    super('the service has no stream here');
    this.answer = answer;
  }
}

/** Whether lists are to be read instead: the service is an earlier one, or has no place for another listener. */
export const hasNoStream = (error: unknown): boolean =>
  error instanceof NoStreamError || isProblem(error, 'not_found', 'too_many_streams');

/** `data` of an event, as the contract of the stream has it. */
export const dataOf = <Data>({ data }: ServerSentEvent): Data => JSON.parse(data) as Data;

/**
 * Events over as many connections as that takes, until what is followed has come to its end; a workspace never does.
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
      for await (const event of readServerSentEvents(stream, { onLife, onRetry: (ms) => (wait = ms) })) {
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

/** What is over after a while: the connection, a restart, and too many streams at once for one that had a place before. */
const isPassing = (error: unknown, hasOpened: boolean): boolean => {
  if (isProblem(error)) return error.status >= 500 || (error.status === 429 && hasOpened);
  return error instanceof ConnectionError || error instanceof TypeError;
};
