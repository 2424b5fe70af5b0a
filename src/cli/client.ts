/**
 * Is the service as the command line sees it: reached over HTTP, like any other client. Its address and credentials
 * come from `AOS_URL`, `AOS_API_KEY` and `AOS_SESSION`, or else from what `aos login` and `npm start` left in DATA_DIR.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readCredentials, readKeptSession } from '../embedded/credentials.ts';
import { errorCodeOf, errorOf } from '../platform/core/causes.ts';
import { fieldsOf, isRecord } from '../platform/core/record.ts';
import { withoutTrailingSlashes } from '../platform/core/text.ts';
import { CliError, oneLine, printAside } from './output.ts';
import { ServiceProblem } from './problems.ts';

/** The service could not be reached. */
class NoAnswer extends CliError {}

export interface ServiceClient {
  baseUrl: string;
  /** The session that opens the control plane, where it is known. */
  session: string | undefined;
  /** The address of the Temporal Web UI, where it is known. */
  uiUrl: string | undefined;
  /** The host:port of Temporal, where it is known. */
  temporalAddress: string | undefined;
  /**
   * Reads what is published, without a credential.
   * @throws CliError
   */
  open<T>(path: string): Promise<T>;
  /**
   * Calls the public API with the API key.
   * @throws CliError
   */
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  /**
   * Calls the control plane through the browser proxy, with the session. A form is sent as it is.
   * @throws CliError
   */
  controlPlane<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T>;
  /**
   * Calls the control plane itself, with the token of an operator.
   * @throws CliError
   */
  operate<T>(token: string, method: string, path: string, body?: unknown): Promise<T>;
  /**
   * Begins to read a file of the control plane, which may take long.
   * @throws CliError where the service refuses, and what `fetch` throws where the connection breaks
   */
  download(path: string, headers: Record<string, string>): Promise<Response>;
}

export interface ServiceAddress {
  baseUrl: string;
  apiKey?: string | undefined;
  session?: string | undefined;
  uiUrl?: string | undefined;
  temporalAddress?: string | undefined;
}

const TIMEOUT_MS = 30_000;
const CONTROL_PLANE = '/api/v1/cp';

/** @returns the command that starts the service on a data directory, which it names unless that is the usual one */
export const startLine = (dataDir = process.env.DATA_DIR || '.data'): string =>
  dataDir === '.data' ? 'npm start' : `DATA_DIR=${dataDir} npm start`;

export async function findService(env: NodeJS.ProcessEnv): Promise<ServiceAddress> {
  const dataDir = env.DATA_DIR || '.data';
  const kept = await readCredentials(dataDir);
  const baseUrl = withoutTrailingSlashes(env.AOS_URL || kept?.base_url || '');
  if (!baseUrl) {
    throw new CliError(
      `no service found: start one here with \`${startLine(dataDir)}\`, set DATA_DIR to the directory of one that runs (now ${dataDir}), or set AOS_URL, AOS_API_KEY and AOS_SESSION`,
    );
  }
  // The credentials of the local service are not sent to another one.
  const local = kept?.base_url === baseUrl ? kept : undefined;
  const signedIn = await readKeptSession(dataDir);
  return {
    baseUrl,
    apiKey: env.AOS_API_KEY || local?.api_key,
    session: env.AOS_SESSION || (signedIn?.base_url === baseUrl ? signedIn.session : local?.session_cookie),
    uiUrl: (env.TEMPORAL_UI_URL || local?.temporal_ui_url) ?? undefined,
    temporalAddress: local?.temporal_address,
  };
}

export function createServiceClient(address: ServiceAddress): ServiceClient {
  const { baseUrl, apiKey, session, uiUrl, temporalAddress } = address;
  async function request<T>(method: string, path: string, headers: Record<string, string>, body: unknown): Promise<T> {
    let response: Response;
    try {
      response = await fetch(baseUrl + path, {
        method,
        headers: isJson(body) ? { ...headers, 'content-type': 'application/json' } : headers,
        body: body === undefined || body instanceof FormData ? body : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw new NoAnswer(explainNoAnswer(baseUrl, error));
    }
    const text = await response.text();
    if (!response.ok) throw new ServiceProblem(`${method} ${path}`, response.status, text);
    const reply: unknown = text ? JSON.parse(text) : undefined;
    printWarnings(reply);
    return reply as T;
  }
  function withSession(): Record<string, string> {
    if (!session) throw new CliError('no session for this service: use `aos login`, or set AOS_SESSION');
    return { cookie: `service_session=${session}` };
  }
  return {
    baseUrl,
    session,
    uiUrl,
    temporalAddress,
    open: (path) => request('GET', path, {}, undefined),
    api(method, path, body) {
      if (!apiKey) throw new CliError('no API key for this service: set AOS_API_KEY');
      return request(method, path, { authorization: `Bearer ${apiKey}` }, body);
    },
    controlPlane(method, path, body, headers = {}) {
      return request(method, CONTROL_PLANE + path, { ...headers, ...withSession() }, body);
    },
    operate: (token, method, path, body) => request(method, path, { 'x-operator-token': token }, body),
    async download(path, headers) {
      const response = await fetch(baseUrl + CONTROL_PLANE + path, { headers: { ...headers, ...withSession() } });
      if (response.ok) return response;
      throw new ServiceProblem(`GET ${path}`, response.status, await response.text());
    },
  };
}

/** A restart takes seconds. A service that is away for longer than this is down. */
const AWAY_MS = 120_000;
const AGAIN_MS = 1_000;

export interface RestartWait {
  /** Notes that the service has answered. */
  answered(): void;
  /**
   * Waits a moment, so that the caller can ask again.
   * @throws the error, unless the service has answered before and may be restarting
   */
  afterError(error: unknown): Promise<void>;
}

/** Waits out a restart of the service. @param isAway tells whether an error says that nobody is there */
export function createRestartWait({ baseUrl }: ServiceClient, isAway: (error: unknown) => boolean): RestartWait {
  let awaySince: number | undefined;
  let hasAnswered = false;
  return {
    answered() {
      awaySince = undefined;
      hasAnswered = true;
    },
    async afterError(error) {
      if (!hasAnswered || !isAway(error)) throw error;
      if (awaySince === undefined) printAside(`${baseUrl} does not answer; it is tried until it is back`);
      awaySince ??= performance.now();
      if (performance.now() - awaySince > AWAY_MS) throw error;
      await sleep(AGAIN_MS);
    },
  };
}

/** @returns the same service, whose reads wait while it restarts: once it has answered, they try again until it is back */
export function outlastingRestarts(service: ServiceClient): ServiceClient {
  const restart = createRestartWait(service, isAway);
  const patient =
    (ask: ServiceClient['controlPlane']): ServiceClient['controlPlane'] =>
    async (method, path, ...more) => {
      for (;;) {
        try {
          const reply = await ask<never>(method, path, ...more);
          restart.answered();
          return reply;
        } catch (error) {
          if (method !== 'GET') throw error;
          await restart.afterError(error);
        }
      }
    };
  return { ...service, api: patient(service.api), controlPlane: patient(service.controlPlane) };
}

/** A proxy in front of a service that restarts answers for it. */
export const isAwayStatus = (status: number): boolean => [502, 503, 504].includes(status);
const isAway = (error: unknown): boolean =>
  error instanceof NoAnswer || (error instanceof ServiceProblem && isAwayStatus(error.status));

/** What was saved may name something that is not there. The answer says so, and people see it whatever the command prints. */
function printWarnings(reply: unknown): void {
  if (!isRecord(reply) || !Array.isArray(reply['warnings'])) return;
  for (const warning of reply['warnings'].map(fieldsOf)) {
    printAside(`warning: ${oneLine(String(warning['path']))}: ${oneLine(String(warning['message']))}`);
  }
}

/** A form sets its own content type. */
const isJson = (body: unknown): boolean => body !== undefined && !(body instanceof FormData);

export const openService = async (env: NodeJS.ProcessEnv): Promise<ServiceClient> =>
  createServiceClient(await findService(env));

function explainNoAnswer(baseUrl: string, error: unknown): string {
  const { name, cause } = errorOf(error);
  const code = errorCodeOf(cause);
  if (name === 'TimeoutError') return `the service at ${baseUrl} did not answer within ${TIMEOUT_MS / 1_000} s`;
  return `the service is not running at ${baseUrl}${code ? ` (${code})` : ''}: start it with \`${startLine()}\``;
}
