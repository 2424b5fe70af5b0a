/**
 * Every body that comes in from outside has an end: so many bytes after decompression, so long from the request to its
 * last byte and, of a stream of events, so many lines of such a length. What sends more is cut off, its connection closed.
 *
 * All `fetch` that the product does goes through here (test/architecture/bodies.test.ts), SDKs included, which take
 * theirs from whoever makes them.
 */
import type { Dispatcher } from 'undici';
import type { Config } from '../core/config.ts';
import { present } from '../core/present.ts';
import { fieldsOf } from '../core/record.ts';
import { DirectResponse, sendDirectly, type Outgoing } from './direct.ts';
import { bodyOfText, gathered, type Gather } from './gathered.ts';
import { followingRedirects } from './redirects.ts';

export type Fetch = (url: string | URL, init?: Outgoing) => Promise<Response>;
/** @param limits replace those that the function was made with */
export type LimitedFetch = (url: string | URL, init?: RequestInit, limits?: Partial<BodyLimits>) => Promise<Response>;

export interface BodyLimits {
  /** Bytes are counted after decompression. */
  maxBytes: number;
  /** The time from the request to the last byte of the answer; Infinity for a stream that is meant to stay open. */
  totalMs: number;
  /** Limits a stream of events: a parser holds a line until it ends, and makes an object of each event. */
  lines?: { maxCount: number; maxBytes: number };
  /** A stream of events is read by this, to its end, before the answer is there. */
  gather?: Gather;
  /** The message names these settings, which raise the limits; without one nothing does. */
  raisedBy: { size?: string | undefined; time?: string | undefined };
  /** It is called where the reader of the body does not pass on why the body ended. */
  onExceeded?: (error: BodyLimitError) => void;
}

export type BodyLimit = 'size' | 'time' | 'line' | 'lines' | 'encoding';

/** The message says which limit was met and what raises it, in words that a tenant or a model may read. */
export class BodyLimitError extends Error {
  override readonly name = 'BodyLimitError';
  readonly code = 'BODY_LIMIT';
  readonly limit: BodyLimit;

  constructor(limit: BodyLimit, message: string) {
    super(message);
    this.limit = limit;
  }
}

const MB = 1_024 * 1_024;
/** A timer of Node takes no more milliseconds than this. */
const LONGEST_MS = 2 ** 31 - 1;
/** A single read is no reason to let others go first; so many bytes in a row are. */
const TURN_BYTES = MB / 4;
const [LF, CR] = [10, 13];

type AnswerSettings = Pick<Config, 'RESPONSE_MAX_MB' | 'RESPONSE_TIMEOUT'>;

/** The limits of an answer for which no other setting exists. */
export const answerLimits = ({ RESPONSE_MAX_MB, RESPONSE_TIMEOUT }: AnswerSettings): BodyLimits => ({
  maxBytes: RESPONSE_MAX_MB * MB,
  totalMs: RESPONSE_TIMEOUT,
  raisedBy: { size: 'RESPONSE_MAX_MB', time: 'RESPONSE_TIMEOUT' },
});

/**
 * By itself `fetch` gives up after five minutes without a header or a byte. How long an answer may take is said by its
 * limits alone.
 */
export const PATIENT = { headersTimeout: 0, bodyTimeout: 0 } as const;

let patientAgent: Promise<Dispatcher> | undefined;
/**
 * It is made when something goes out for the first time: nothing else needs the package. It goes by HTTP_PROXY, HTTPS_PROXY
 * and NO_PROXY; the guarded egress does not, as a proxy would look names up where nobody can check their addresses.
 */
const patiently = async (url: URL, init: Outgoing): Promise<Response> => {
  patientAgent ??= import('undici').then(({ EnvHttpProxyAgent }) => new EnvHttpProxyAgent(PATIENT));
  return send(url, init, await patientAgent);
};

/** Makes one request, and follows no redirect. */
export const send = (url: URL, { isDirect, ...init }: Outgoing, dispatcher: Dispatcher): Promise<Response> =>
  isDirect
    ? sendDirectly(url, init, dispatcher)
    : fetch(url, { ...init, redirect: 'manual', dispatcher } as RequestInit);

/**
 * A `fetch` for addresses that the operator set, which may be private. Whatever a tenant names goes through the egress.
 */
export const plainFetch = (settings: AnswerSettings): LimitedFetch =>
  limited(followingRedirects(patiently), answerLimits(settings));

/** @returns `fetch` whose answers end within their limits, or fail with a BodyLimitError while they are read */
export const limited =
  (fetch: Fetch, defaults: BodyLimits): LimitedFetch =>
  async (url, init = {}, own = {}) => {
    // A limit that the request brought along is raised by the setting that it names, or by none.
    const raisedBy = {
      size: own.maxBytes === undefined ? defaults.raisedBy.size : own.raisedBy?.size,
      time: own.totalMs === undefined ? defaults.raisedBy.time : own.raisedBy?.time,
    };
    const limits = { ...defaults, ...own, raisedBy };
    const stop = new AbortController();
    const { signal } = init;
    const forward = () => stop.abort(signal?.reason);
    if (signal?.aborted) forward();
    signal?.addEventListener('abort', forward, { once: true });
    const timer = setTimeout(() => stop.abort(exceeded('time', limits)), Math.min(limits.totalMs, LONGEST_MS));
    // A process is kept alive by the connection, which is gone when nobody reads any more; the timer must not keep it
    // alive.
    timer.unref();
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    };
    try {
      const isDirect = limits.gather !== undefined;
      const response = await fetch(url, { ...init, signal: stop.signal, ...(isDirect && { isDirect }) });
      if (isPacked(response)) throw exceeded('encoding', limits);
      const body = await bodyOf(response, { limits, stop, release });
      if (body) return withBody(response, body);
      release();
      return response;
    } catch (error) {
      release();
      stop.abort(error);
      throw error;
    }
  };

/** Finds the error, also where an SDK has wrapped it. */
export function bodyLimitIn(error: unknown): BodyLimitError | undefined {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth += 1) {
    if (at instanceof BodyLimitError) return at;
    const { cause, detail, exception, lastError } = fieldsOf(at);
    at = cause ?? detail ?? exception ?? lastError;
  }
  return undefined;
}

/** Tells compression on top of compression: nobody needs it, and each layer multiplies the size of the one before. */
const isPacked = ({ headers }: Response): boolean =>
  (headers.get('content-encoding') ?? '').split(',').filter((coding) => !isPlain(coding.trim())).length > 1;
const isPlain = (coding: string): boolean => coding === '' || coding.toLowerCase() === 'identity';

/** Copies a response with another body, because the body of a Response cannot be replaced. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const limited = new Response(body);
  for (const name of ['status', 'statusText', 'ok', 'headers', 'url', 'redirected', 'type'] as const) {
    Object.defineProperty(limited, name, { value: response[name], enumerable: true });
  }
  return limited;
}

interface Reading {
  limits: BodyLimits;
  stop: AbortController;
  release: () => void;
}

const EVENTS = /^text\/event-stream\b/i;

async function bodyOf(response: Response, reading: Reading): Promise<ReadableStream<Uint8Array> | undefined> {
  const { body, ok, headers } = response;
  if (!(response instanceof DirectResponse)) return body ? counted(body, reading) : undefined;
  const { limits, release } = reading;
  if (!limits.gather || !ok || !EVENTS.test(headers.get('content-type') ?? ''))
    return counted(response.read(), reading);
  const all = await gathered(response.source, limits.gather, createCounter(limits));
  release();
  return bodyOfText(all);
}

function counted(body: ReadableStream<Uint8Array>, { limits, stop, release }: Reading): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const count = createCounter(limits);
  let sinceTurn = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            release();
            return controller.close();
          }
          count(value);
          sinceTurn += Math.max(value.byteLength, 1_024);
          if (sinceTurn > TURN_BYTES) {
            sinceTurn = 0;
            await new Promise(setImmediate);
          }
          controller.enqueue(value);
        } catch (error) {
          release();
          if (error instanceof BodyLimitError) limits.onExceeded?.(error);
          // This closes the connection.
          stop.abort(error);
          throw error;
        }
      },
      async cancel(reason) {
        release();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** @returns a function that counts a chunk and throws BodyLimitError beyond a limit */
function createCounter(limits: BodyLimits): (chunk: Uint8Array) => void {
  const { maxBytes, lines: { maxCount, maxBytes: maxLineBytes } = { maxCount: Infinity, maxBytes: Infinity } } = limits;
  let bytes = 0;
  let lines = 0;
  let lineBytes = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw exceeded('size', limits);
    if (!limits.lines) return;
    for (let at = 0; at < chunk.byteLength; at += 1) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) {
        lineBytes += 1;
        continue;
      }
      // An empty line costs the parser nothing, so only the others count.
      if (lineBytes > 0) lines += 1;
      if (lines > maxCount) throw exceeded('lines', limits);
      if (lineBytes > maxLineBytes) throw exceeded('line', limits);
      lineBytes = 0;
    }
    if (lineBytes > maxLineBytes) throw exceeded('line', limits);
  };
}

export function exceeded(
  limit: BodyLimit,
  { maxBytes, totalMs, lines, raisedBy: { size, time } }: BodyLimits,
): BodyLimitError {
  const raised = (setting: string | undefined, what: string) => (setting ? `; ${setting} sets ${what}` : '');
  const howMuch = raised(size, 'how much is taken');
  switch (limit) {
    case 'time':
      return new BodyLimitError(
        limit,
        `no complete answer within ${totalMs / 1_000} seconds${raised(time, 'how long it may take')}`,
      );
    case 'size':
      return new BodyLimitError(limit, `the answer has more than ${amountOf(maxBytes)}${howMuch}`);
    case 'line':
      return new BodyLimitError(
        limit,
        `a line of the answer has more than ${amountOf(present(lines).maxBytes)}${howMuch}`,
      );
    case 'lines':
      return new BodyLimitError(limit, `the answer has more than ${present(lines).maxCount} lines${howMuch}`);
    case 'encoding':
      return new BodyLimitError(limit, 'the answer is compressed more than once');
  }
}

const amountOf = (bytes: number): string =>
  bytes < MB ? `${Math.floor(bytes / 1_024)} KB` : `${Math.floor((10 * bytes) / MB) / 10} MB`;
