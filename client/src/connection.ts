/** Holds who asks and where: what every call is made with. */
import { createConfig, createClient as createHttp, type Client as Http } from './generated/client/index.ts';
import { AosError, serviceError } from './errors.ts';
import { createTransport, IDEMPOTENCY_KEY, takesKey, type Transport } from './transport.ts';

export interface ClientOptions {
  /** The address of the service, such as `https://aos.example.com`. A page of the service's own needs none. */
  baseUrl?: string;
  /** An API key (`svc_pk_...`), which opens the public API. */
  apiKey?: string;
  /**
   * Opens the control plane. It is the text of a session cookie, or `browser` where the browser has the cookie. Where
   * there is a key too, whatever both can do is done with the session.
   */
  session?: string;
  /** How long one attempt may take, in milliseconds. */
  timeoutMs?: number;
  /** How many attempts follow the first one, where the service or the network was away and a repeat can do no harm. */
  retries?: number;
  /** Is called in the place of the global `fetch`. */
  fetch?: typeof fetch;
  /** Headers that are sent with each request. */
  headers?: Record<string, string>;
}

/** The gateway has the paths of the control plane below this one. */
export const CONTROL_PLANE = '/api/v1/cp';

export interface Connection {
  baseUrl: string;
  http: Http;
  transport: Transport;
  canUseSession: boolean;
  canUseKey: boolean;
  /** Builds a request that is no JSON call, such as a stream. */
  request(path: string, query?: Record<string, string | undefined>): Request;
}

export function connect(options: ClientOptions): Connection {
  const { apiKey, session, timeoutMs = 30_000, retries = 3 } = options;
  const baseUrl = addressOf(options.baseUrl);
  if (apiKey === undefined && session === undefined) throw new AosError('give an apiKey, a session, or both');
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);
  const transport = createTransport({ baseUrl, fetch: send, timeoutMs, retries });
  const sessionHeaders: Record<string, string> =
    session === undefined || session === 'browser' ? {} : { cookie: `service_session=${session}` };
  const headersOf = (path: string): Record<string, string> => ({
    ...options.headers,
    ...(path.startsWith(CONTROL_PLANE)
      ? sessionHeaders
      : apiKey === undefined
        ? {}
        : { authorization: `Bearer ${apiKey}` }),
  });

  const http = createHttp(createConfig({ baseUrl, fetch: transport.fetch, throwOnError: true, responseStyle: 'data' }));
  http.interceptors.request.use((request, { url, method }) => {
    for (const [name, value] of Object.entries(headersOf(url))) request.headers.set(name, value);
    if (method && takesKey(method, url) && !request.headers.has(IDEMPOTENCY_KEY)) {
      request.headers.set(IDEMPOTENCY_KEY, crypto.randomUUID());
    }
    return request;
  });
  http.interceptors.error.use((error, response, request) => {
    if (error instanceof AosError) return error;
    if (response && !response.ok) return serviceError(response, error);
    return request?.signal.aborted ? request.signal.reason : error;
  });
  return {
    baseUrl,
    http,
    transport,
    canUseSession: session !== undefined,
    canUseKey: apiKey !== undefined,
    request(path, query = {}) {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
      return new Request(`${baseUrl}${path}${search.size > 0 ? `?${search.toString()}` : ''}`, {
        headers: headersOf(path),
      });
    },
  };
}

function addressOf(given: string | undefined): string {
  const address = given ?? (globalThis as { location?: { origin?: string } }).location?.origin ?? '';
  if (!URL.canParse(address)) throw new AosError('baseUrl must be an address such as https://aos.example.com');
  let end = address.length;
  while (address[end - 1] === '/') end -= 1;
  return address.slice(0, end);
}
