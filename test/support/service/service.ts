/** The whole service in this process, on a database and task queues of its own, spoken to over HTTP. */
import { request, type Dispatcher } from 'undici';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startApi, type Api } from '../../../src/api.ts';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog, type Log } from '../../../src/platform/core/log.ts';
import { last, present } from '../../../src/platform/core/present.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { signSession } from '../../../src/platform/http/auth.ts';
import { allRoutes } from '../../../src/resources/index.ts';
import type { Role } from '../../../src/platform/core/rights.ts';
import type { Plan } from '../../../src/resources/workspaces/model.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { housekeeperId } from '../../../src/housekeeper.ts';
import { createServices } from '../../../src/compose/services.ts';
import { startWorker, type RunningWorker } from '../../../src/worker.ts';
import { openTestDatabase } from '../database/database.ts';
import { EVENT_STREAM, eventsIn } from '../http/event-stream.ts';
import { mailbox } from './otp.ts';
import { connectTestTemporal } from '../temporal/temporal.ts';
import { BUNDLE, sealedBundle } from '../temporal/workflow-bundle.ts';
import { makeWorkspace } from '../fixtures/workspaces.ts';

export const TEST_SECRETS = {
  SESSION_SECRET: 'session-secret-of-the-tests',
  ADMIN_SECRET: 'admin-secret-of-the-tests',
  SECRETS_KEY: 'secrets-key-of-the-tests',
  OPERATOR_TOKEN: 'operator-token-of-the-tests-0123456789',
};

// What a test expects of a body is what its assertions say.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface Answer<Body = any> {
  status: number;
  headers: Headers;
  body: Body;
}

/** One tenant, with every credential it has. */
export interface Tenant {
  caller: Caller;
  apiKey: string;
  session: string;
  /** The public surface, with the API key. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The control plane through the browser proxy, with the owner's session. */
  cp(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Dispatches a run and waits for its end. */
  run(body: Record<string, unknown>): Promise<FinishedRun>;
  waitForRun(runId: string): Promise<FinishedRun>;
}

export interface FinishedRun {
  run_id: string;
  status: string;
  agent: string | null;
  output: string | null;
  error: string | null;
}

export interface TestService {
  baseUrl: string;
  controlPlaneUrl: string;
  runtime: Runtime;
  services: ReturnType<typeof createServices>;
  routes: ReturnType<typeof allRoutes>;
  tenant(workspaceId: string, plan?: Plan): Promise<Tenant>;
  startWorker(): Promise<RunningWorker>;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  env?: Record<string, string>;
  /** Without a worker runs stay queued. */
  worker?: boolean;
  /** In the place of the one that the environment asks for. */
  log?: Log;
  /** The gateway forwards over HTTP, to a control plane that is started apart from it. */
  split?: boolean;
}

/** For tests of what goes through the gateway: both ways of running it. */
export const GATEWAYS = [
  ['in one process', { split: false }],
  ['in split mode', { split: true }],
] as const;

export async function startTestService({
  env = {},
  worker = true,
  log: givenLog,
  split = false,
}: TestServiceOptions = {}): Promise<TestService> {
  const [database, temporal] = await Promise.all([
    openTestDatabase(),
    connectTestTemporal(givenLog, env.TEMPORAL_CODEC_KEYS),
  ]);
  const config = loadConfig({
    ...TEST_SECRETS,
    PORT: '0',
    CONTROL_PLANE_PORT: '0',
    LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: String(database.poolSize),
    DATA_DIR: fileURLToPath(new URL('../../../.cache/test-data', import.meta.url)),
    TASK_QUEUE_PREFIX: temporal.queuePrefix,
    SHUTDOWN_GRACE: '2s',
    // What asks every endpoint reads each answer to its end; tests of streams say how long theirs are.
    LIVE_STREAM_LIFE: '100ms',
    WORKER_BUNDLE: env.TEMPORAL_CODEC_KEYS ? await sealedBundle() : BUNDLE,
    // `npm run proof:replay` has every workflow replay at each of its tasks.
    ...(process.env.TEST_WORKFLOW_CACHE && { WORKER_MAX_CACHED_WORKFLOWS: process.env.TEST_WORKFLOW_CACHE }),
    ...env,
  });
  const destination = config.LOG_LEVEL === 'silent' ? mailbox : undefined;
  const log = givenLog ?? createLog({ level: config.LOG_LEVEL, pretty: false, ...(destination && { destination }) });
  const runtime: Runtime = { config, log, db: database.db, temporal, close: async () => {} };
  const services = createServices(runtime);
  const workers: RunningWorker[] = [];
  const addWorker = async () => {
    const started = await startWorker(runtime, services);
    workers.push(started);
    return started;
  };
  if (worker) await addWorker();
  const apis = await (split ? startApart(runtime, services) : Promise.all([startApi(runtime, services)]));
  const baseUrl = present(last(apis).gatewayUrl);

  return {
    baseUrl,
    controlPlaneUrl: apis[0]!.controlPlaneUrl!,
    runtime,
    services,
    routes: allRoutes(services),
    startWorker: addWorker,
    async tenant(workspaceId, plan) {
      const caller = await makeWorkspace(database.db, workspaceId, plan);
      const { key } = await services.apiKeys.create(caller.customerId, { name: 'test' });
      return tenantOf(baseUrl, caller, key);
    },
    async close() {
      for (const api of apis.toReversed()) await api.close();
      await Promise.all(workers.map((running) => running.close()));
      const { schedule, workflow } = temporal.client;
      const jobs = schedule.getHandle(`${temporal.queuePrefix}system-job/integration-health`);
      await Promise.allSettled([jobs.delete(), workflow.getHandle(housekeeperId(config)).terminate()]);
      await services.close();
      await database.close();
      await temporal.close();
    },
  };
}

async function startApart(runtime: Runtime, services: ReturnType<typeof createServices>): Promise<Api[]> {
  const { config } = runtime;
  const controlPlane = await startApi({ ...runtime, config: { ...config, SURFACES: 'control-plane' } }, services);
  const CONTROL_PLANE_URL = controlPlane.controlPlaneUrl;
  const gateway = await startApi(
    { ...runtime, config: { ...config, SURFACES: 'gateway', CONTROL_PLANE_URL } },
    services,
  );
  return [controlPlane, gateway];
}

export const sessionFor = (
  { workspaceId, customerId, actor }: Omit<Caller, 'standing'>,
  role: Role = 'owner',
  ttlS = 3_600,
) => {
  const iat = Date.now() / 1_000;
  return signSession(
    { sub: actor, email: actor, workspace: workspaceId, customer_id: customerId, role, iat, exp: iat + ttlS },
    TEST_SECRETS.SESSION_SECRET,
  );
};

type Send<Body> = (
  url: string,
  method: string,
  headers: Record<string, string>,
  body: Body,
) => Promise<{ status: number; headers: Headers; text: string }>;

const sendForm: Send<FormData> = async (url, method, headers, body) => {
  const response = await fetch(url, { method, headers, body });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const sendJson: Send<unknown> = async (url, method, given, body) => {
  const json = body === undefined ? null : JSON.stringify(body);
  const answer = await request(url, {
    method: method as Dispatcher.HttpMethod,
    headers: { ...given, ...(json !== null && { 'content-type': 'application/json' }) },
    body: json,
  });
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headers)) {
    for (const value of [values].flat()) if (value !== undefined) headers.append(name, value);
  }
  return { status: answer.statusCode, headers, text: await answer.body.text() };
};

export async function call(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  // For what is no form there is no need of all that `fetch` does, which costs three times as much as this.
  const {
    status,
    headers: got,
    text,
  } = await (body instanceof FormData ? sendForm(url, method, headers, body) : sendJson(url, method, headers, body));
  const type = got.get('content-type') ?? '';
  const read: unknown = type.includes('json')
    ? JSON.parse(text)
    : type.startsWith(EVENT_STREAM)
      ? // Cursors are of the moment.
        eventsIn(text).map(({ event, data }) => ({ event, data }))
      : text;
  return { status, headers: got, body: read };
}

/** @param session one that there is already */
export function tenantOf(baseUrl: string, caller: Caller, apiKey: string, session = sessionFor(caller)): Tenant {
  const tenant: Tenant = {
    caller,
    apiKey,
    session,
    api: (method, path, body) => call(baseUrl + path, method, { authorization: `Bearer ${apiKey}` }, body),
    cp: (method, path, body, headers) =>
      call(`${baseUrl}/api/v1/cp${path}`, method, { ...headers, cookie: `service_session=${session}` }, body),
    async run(body) {
      const accepted = await tenant.api('POST', '/v1/runs', body);
      if (accepted.status !== 201) throw new Error(`not accepted: ${JSON.stringify(accepted.body)}`);
      return tenant.waitForRun(accepted.body.run_id);
    },
    async waitForRun(runId) {
      await sleep(RUN_MS);
      return eventually(async () => {
        const { body } = await tenant.api('GET', `/v1/runs/${runId}`);
        if (['queued', 'running'].includes(body.status)) throw new Error(`run ${runId} is still ${body.status}`);
        return body as FinishedRun;
      });
    },
  };
  return tenant;
}

/** Hardly a run ends sooner, so looks before that would be in vain. */
const RUN_MS = 40;
/** Looks come less and less often: each is a request, and those of tests that wait were a third of the work of all tests. */
const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS = 250;

/**
 * Repeats a look until it succeeds: for what another process does in its own time. What takes longer than the limit hangs,
 * also on a machine that is slow and has other work.
 */
export async function eventually<T>(look: () => T | Promise<T>, timeoutMs = 180_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.25, LONGEST_PAUSE_MS)) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
