/**
 * Sends requests to the service: with a time limit for each attempt, and with repeats of what may be repeated. A
 * request that could do something twice is sent again only where the service has said that it recognises a repeat by
 * its `Idempotency-Key`.
 */
import { ConnectionError, RequestTimeoutError, retryAfterMs } from './errors.ts';
import { IDEMPOTENT_ENDPOINTS } from './generated/idempotent.gen.ts';
import { delay } from './waiting.ts';

export interface TransportOptions {
  baseUrl: string;
  fetch: typeof fetch;
  /**
   * The limit of one attempt up to the end of its answer, or up to its beginning where the answer is a file or a
   * stream.
   */
  timeoutMs: number;
  /** How many attempts follow the first one. */
  retries: number;
}

export interface Transport {
  fetch: typeof fetch;
  /** @returns the names of extensions that the service has switched on */
  extensions(signal?: AbortSignal): Promise<ReadonlySet<string>>;
}

export const IDEMPOTENCY_KEY = 'idempotency-key';
const EXTENSIONS_HEADER = 'x-service-extensions';

const REPEATABLE_METHODS = new Set(['GET', 'HEAD', 'PUT']);
/** A proxy on the way, or something that the service depends on, was away for a moment. */
const AWAY = new Set([502, 503, 504]);
/** With these errors the connection was never made, so nothing was sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Where a service asks for a longer wait than this, the caller decides. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * The wait doubles with each attempt, and up to a half of it is left to chance, so that clients which failed together
 * do not come back together.
 */
export const backoffMs = (attempt: number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (1 - Math.random() / 2);

/** Tells whether the service takes an `Idempotency-Key` at this endpoint, where it has the extension. */
export const takesKey = (method: string, path: string): boolean =>
  IDEMPOTENT_ENDPOINTS.some((template) => {
    const [of, ...parts] = template.split(/[ /]/);
    const given = path.split('/');
    return (
      of === method &&
      parts.length === given.length &&
      parts.every((part, i) => part.startsWith('{') || part === given[i])
    );
  });

export function createTransport({ baseUrl, timeoutMs, retries, fetch: send }: TransportOptions): Transport {
  let known: ReadonlySet<string> | undefined;

  const note = (response: Response): Response => {
    // An error may come from something on the way, which says nothing about the service.
    if (response.ok) {
      const names = response.headers.get(EXTENSIONS_HEADER) ?? '';
      known = new Set(
        names
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean),
      );
    }
    return response;
  };

  async function attempt(request: Request): Promise<Response> {
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(new DOMException('timed out', 'TimeoutError')), timeoutMs);
    try {
      const signal = AbortSignal.any([request.signal, timer.signal]);
      const response = note(await send(request, { signal }));
      if (!isText(response)) return response;
      // The body is read here, so that an answer which breaks off counts as one that did not come.
      const text = await response.text();
      const { status, statusText, headers } = response;
      return new Response(text === '' ? null : text, { status, statusText, headers });
    } catch (error) {
      request.signal.throwIfAborted();
      if (timer.signal.aborted)
        throw new RequestTimeoutError(`${nameOf(request)}: no answer within ${timeoutMs} ms`, error);
      const code = causeOf(error);
      throw new ConnectionError(`${nameOf(request)}: ${code ?? String((error as Error).message)}`, {
        mayHaveBeenDone: !(code && NEVER_SENT.has(code)),
        cause: error,
      });
    } finally {
      clearTimeout(timeout);
    }
  }

  async function extensions(signal?: AbortSignal): Promise<ReadonlySet<string>> {
    if (!known) await attempt(new Request(`${baseUrl}/healthz`, { ...(signal && { signal }) }));
    return known ?? new Set();
  }

  /** Tells whether sending the request once more can do no harm. */
  async function mayRepeat(request: Request, failure: Response | ConnectionError): Promise<boolean> {
    if (REPEATABLE_METHODS.has(request.method)) return true;
    if (failure instanceof ConnectionError && !failure.mayHaveBeenDone) return true;
    if (!request.headers.has(IDEMPOTENCY_KEY) || !takesKey(request.method, pathOf(request.url, baseUrl))) return false;
    return (await extensions(request.signal).catch(() => new Set())).has('idempotency');
  }

  async function persistent(request: Request): Promise<Response> {
    for (let tried = 0; ; tried += 1) {
      const outcome = await attempt(tried < retries ? request.clone() : request).catch((error: unknown) => {
        if (error instanceof ConnectionError) return error;
        throw error;
      });
      const failed = outcome instanceof ConnectionError || AWAY.has(outcome.status);
      const asked = outcome instanceof Response ? retryAfterMs(outcome.headers) : undefined;
      if (!failed || tried >= retries || (asked ?? 0) > LONGEST_RETRY_AFTER_MS) return answerOr(outcome);
      await delay(asked ?? backoffMs(tried), request.signal);
      if (!(await mayRepeat(request, outcome))) return answerOr(outcome);
    }
  }

  return {
    extensions,
    fetch: (input, init) => persistent(input instanceof Request && !init ? input : new Request(input, init)),
  };
}

function answerOr(outcome: Response | ConnectionError): Response {
  if (outcome instanceof ConnectionError) throw outcome;
  return outcome;
}

const isText = ({ headers }: Response): boolean =>
  /^(application\/json|text\/plain|text\/html)|^$/.test(headers.get('content-type') ?? '');

/** The name leaves out the query, which may hold something that nobody else may read. */
const nameOf = ({ method, url }: Request): string => `${method} ${url.split('?')[0]}`;

const pathOf = (url: string, baseUrl: string): string => url.slice(baseUrl.length).split('?')[0]!;

/** Node names the cause of a failed request; browsers say nothing. */
const causeOf = (error: unknown): string | undefined => {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : undefined;
};
