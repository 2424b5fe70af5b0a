/**
 * The event log of the workspace as it grows: `GET /v1/live`. A stream that ends, or breaks, or falls silent is asked for
 * anew after the last event that came, so that each event is seen once and none is missed.
 */
import { AosError, ConnectionError, isProblem, serviceError } from './errors.ts';
import { CONTROL_PLANE, type Connection } from './connection.ts';
import type { LiveEvent, LiveGap, LiveOpen } from './generated/types.gen.ts';
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

/**
 * Events of a stream for as long as it is wanted, over as many connections as that takes.
 * @param request makes the request of one connection, without what this function adds to it
 * @throws NoStreamError where the service answers with something else, ServiceError where it refuses
 */
async function* followStream(
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
        yield event;
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

export type EventKind = LiveEvent['kind'];

export interface LiveFilter extends FollowOptions {
  /** Only what belongs to this run. */
  runId?: string | undefined;
  /** Only what belongs to this project, its steps' runs included. */
  projectId?: string | undefined;
  kinds?: readonly EventKind[] | undefined;
}

/**
 * - `open`: from this cursor on the stream has everything
 * - `gap`: what was between the two cursors is not kept any more
 */
export type LiveItem = LiveEvent | ({ kind: 'open' } & LiveOpen) | ({ kind: 'gap' } & LiveGap);

const CONTROL = new Set(['open', 'gap']);
const KINDS: readonly string[] = [
  'run',
  'project',
  'wait',
  'delivery',
  'output',
  'schedule',
  'integration',
] satisfies EventKind[];

/** Follows `GET /v1/live`. Events whose name this package does not know are left out. */
export async function* followLive(
  { transport, request }: Pick<Connection, 'transport' | 'request'>,
  { runId, projectId, kinds, ...follow }: LiveFilter,
): AsyncGenerator<LiveItem> {
  const query = { run_id: runId, project_id: projectId, kind: kinds?.join(','), after: follow.after };
  for await (const { event, data } of followStream(
    transport,
    () => request(`${CONTROL_PLANE}/v1/live`, query),
    follow,
  )) {
    if (CONTROL.has(event)) yield { kind: event, ...(JSON.parse(data) as object) } as LiveItem;
    else if (KINDS.includes(event)) yield JSON.parse(data) as LiveEvent;
  }
}
