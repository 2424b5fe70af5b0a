/**
 * Sends requests to the control plane with the session cookie. A session that has ended leads through sign-in and back.
 * A request that needs a confirmation code asks the person for it and is sent again with it.
 */
import { codeFor, type Demand } from './confirmation.ts';
import { ApiProblem, problemOf } from './problem.ts';

const BASE = '/api/v1/cp';

type Value = string | number | boolean | null | undefined;

interface CallOptions {
  query?: Record<string, Value>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** @returns an address below the control plane, with the parameters of the query that are set */
export function addressOf(path: string, query: Record<string, Value> = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** Leaves for the sign-in page. The promise never settles, because the page is unloaded. */
export function signIn(): Promise<never> {
  const here = location.pathname + location.search + location.hash;
  location.assign(`/login?next=${encodeURIComponent(here.length > 500 ? location.pathname : here)}`);
  return new Promise(() => {});
}

/** @throws ApiProblem */
async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  let headers = options.headers ?? {};
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await send<T>(method, path, { ...options, headers });
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.more.otp_required !== true) throw error;
      headers = { ...headers, ...(await codeFor(error.more as unknown as Demand, isAgain)) };
    }
  }
}

async function send<T>(method: string, path: string, { query, body, headers, signal }: CallOptions = {}): Promise<T> {
  const isForm = body instanceof FormData;
  let response: Response;
  try {
    response = await fetch(BASE + addressOf(path, query), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiProblem('The service cannot be reached. It is asked again by itself.');
  }
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  const parsed = jsonOf(text);
  if (response.ok) return parsed as T;
  const problem = problemOf(response.status, parsed);
  if (problem.code === 'auth_required') return signIn();
  throw problem;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const get = <T>(path: string, query?: Record<string, Value>, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', path, { ...(query && { query }), signal });
export const post = <T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> =>
  call<T>('POST', path, { body: body ?? {}, ...(headers && { headers }) });
export const put = <T>(path: string, body: unknown): Promise<T> => call<T>('PUT', path, { body });
export const patch = <T>(path: string, body: unknown): Promise<T> => call<T>('PATCH', path, { body });
export const del = (path: string): Promise<void> => call<void>('DELETE', path);
