/**
 * Mixed work at a steady rate through every API of a deployment, as a workspace that pays for it: runs with tools that
 * may and may not be repeated, failing and cancelled ones, conversations, spawned runs, projects with gates, a
 * heartbeat, webhooks, reads. It keeps what was answered, and counts calls by whether a fault was under way.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createLog } from '../../src/platform/core/log.ts';
import { connectTemporal, type Temporal } from '../../src/platform/temporal/client.ts';
import { createApiKeyService } from '../../src/resources/api-keys/service.ts';
import { createApiKeyStore } from '../../src/resources/api-keys/store.ts';
import { createWalletStore } from '../../src/resources/billing/wallet/store.ts';
import { createWorkspaceStore } from '../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../src/resources/tenant-data.ts';
import { createBillingStore, type BillingStore } from '../../src/resources/billing/store.ts';
import type { Database } from '../../src/platform/db/client.ts';
import { sessionFor } from '../support/service/service.ts';
import { signatureOf } from '../support/fakes/stripe-server.ts';
import type { Deployment, Replica } from '../support/processes/deployment.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { createPerson, type Person } from './person.ts';
import { pick, pickWeighted } from './random.ts';
import type { Sink } from './sink.ts';
import { waitsInDatabase, type Waits } from './waits.ts';
import { KINDS, PUT, POST, reading, type Kind } from './workload-kinds.ts';

const WEBHOOK_SECRET = 'whsec_of_the_proofs';

/** What every process of the deployment needs for this work. */
export const workloadSettings = (sink: Pick<Sink, 'hostAndPort'>): Record<string, string> => ({
  // Stripe tells of payments, and is never asked.
  BILLING_MODE: 'live',
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  EGRESS_ALLOWLIST: sink.hostAndPort,
  WEBHOOK_ALLOW_HTTP: 'true',
  // Eight attempts take an hour with the setting's default, and 64 s with this.
  WEBHOOK_RETRY_INITIAL: '500ms',
  WEBHOOK_TIMEOUT: '3s',
});

/** No answer for so long is a failure, whatever comes later. */
const PATIENCE_MS = 30_000;

interface Addressed {
  base: string | undefined;
  credential: Record<string, string>;
}

export interface Reply {
  /** 0: no answer came. */
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what is expected of it is what its reader says
  body: any;
}

/** One call: what it is, and with which answers it has worked. */
export interface Request {
  /** With the API key; with the session, through the browser proxy; or signed, as the billing provider. */
  surface: 'api' | 'cp' | 'provider';
  method: string;
  path: string;
  body?: unknown;
  /** 2xx unless said otherwise. */
  isGood?: (status: number) => boolean;
}

export interface CallCount {
  made: number;
  good: number;
}

export interface Calls {
  outsideFaults: CallCount;
  duringFaults: CallCount;
  /** Of all. */
  longestMs: number;
  /** `POST /v1/runs -> 500`, of those outside of faults. */
  bad: Map<string, number>;
}

/** What was answered with a 201, by id: the kind of work that it is of. */
export interface Accepted {
  runs: Map<string, string>;
  projects: Map<string, string>;
}

export interface Workload {
  customerId: string;
  /** Of its owner. */
  session: string;
  accepted: Accepted;
  /** Credit that was paid for and whose payment the service has heard of, by its session. */
  paid: Set<string>;
  /** Names of the runs and projects that were answered 502 or 507: they must not exist. Each name is in its prompt or brief. */
  refused: Set<string>;
  calls: Calls;
  /** Past every proxy. */
  temporal: Temporal;
  person: Person;
  /** Starts new work, `perSecond`, until `finish`. */
  begin(): void;
  /** From here on calls count as made during a fault, until as many faults have ended as have begun. */
  faultBegins(): void;
  faultEnds(): void;
  /** One piece of work, with all that it sets off; for when nothing else goes on. */
  doAlone(kind: Kind): Promise<void>;
  /** Starts nothing new, and waits until every call has an answer. What was accepted goes on. */
  finish(): Promise<void>;
  call(request: Request): Promise<Reply>;
  close(): Promise<void>;
}

/** The workspace that the work is done for. */
export interface ProofTenant {
  customerId: string;
  apiKey: string;
  session: string;
}

export interface WorkloadOptions {
  /** Where the work goes. */
  target: Pick<Deployment, 'replicas' | 'temporalAddress'>;
  tenant: ProofTenant;
  /** What waits for its people. */
  waits: (call: (request: Request) => Promise<Reply>) => Waits;
  /** Sells credit. */
  billing?: Pick<BillingStore, 'addTopup'>;
  sink: Sink;
  random: () => number;
  /** Pieces of work, reads included. */
  perSecond?: number;
  /** Runs under way from which on nothing new is begun, and what is there is only read: a slow machine takes longer. */
  maxOpen?: number;
  /** Sees each answer that was given. */
  onReply?: (request: Request, reply: Reply) => void;
  /** In the place of `KINDS`, or with more of them. */
  kinds?: readonly (readonly [Kind, number])[];
}

/** Makes the workspace with its key and credit. */
export async function makeProofTenant(db: Database): Promise<ProofTenant> {
  const caller = await makeWorkspace(db, 'acc_proof', 'scale');
  const { customerId } = caller;
  const keys = createApiKeyService({ store: createApiKeyStore(db), workspaces: createWorkspaceStore(db, TENANT_DATA) });
  const { key: apiKey } = await keys.create(customerId, { name: 'proof' });
  const session = sessionFor(caller, 'owner', 24 * 3_600);
  await createWalletStore(db).post({ customerId, key: 'session:proof', kind: 'topup', deltaUsdMicros: 1_000_000_000 });
  return { customerId, apiKey, session };
}

/** For a deployment whose database is at hand: also makes the workspace. */
export async function prepareWorkload({
  deployment,
  ...options
}: { deployment: Deployment } & Pick<
  WorkloadOptions,
  'sink' | 'random' | 'perSecond' | 'maxOpen' | 'kinds'
>): Promise<Workload> {
  const { db } = deployment;
  const tenant = await makeProofTenant(db);
  const waits = () => waitsInDatabase(db, tenant.customerId);
  return createWorkload({ ...options, target: deployment, tenant, waits, billing: createBillingStore(db) });
}

/** Makes tools, agent, webhooks and heartbeat. */
export async function createWorkload({
  target,
  tenant: { customerId, apiKey, session },
  waits: waitsBy,
  billing,
  sink,
  random,
  perSecond = 2,
  maxOpen = 40,
  onReply,
  kinds = KINDS,
}: WorkloadOptions): Promise<Workload> {
  const log = createLog({ level: 'silent', pretty: false });
  const temporal = await connectTemporal({ TEMPORAL_ADDRESS: target.temporalAddress }, { log });

  const calls: Calls = {
    outsideFaults: { made: 0, good: 0 },
    duringFaults: { made: 0, good: 0 },
    longestMs: 0,
    bad: new Map(),
  };
  let faults = 0;
  let faultsEver = 0;
  const apis = target.replicas.filter(({ part }) => part === 'api');

  /** A load balancer in front would know which are there. */
  function someApi(): Replica {
    const up = apis.filter(({ running }) => running);
    return pick(random, up.length > 0 ? up : apis);
  }

  async function call(request: Request): Promise<Reply> {
    const { method, path, isGood = isOk } = request;
    const faultsBefore = faultsEver;
    const wasFaulty = faults > 0;
    const startedAt = performance.now();
    const reply = await send(someApi(), request);
    calls.longestMs = Math.max(calls.longestMs, performance.now() - startedAt);
    onReply?.(request, reply);
    const count = wasFaulty || faultsEver > faultsBefore ? calls.duringFaults : calls.outsideFaults;
    count.made += 1;
    if (isGood(reply.status)) count.good += 1;
    else if (count === calls.outsideFaults) {
      const what = `${method} ${path.replaceAll(/[0-9a-z-]{20,}/g, '{id}')} -> ${reply.status}`;
      calls.bad.set(what, (calls.bad.get(what) ?? 0) + 1);
    }
    return reply;
  }

  function addressed({ url, controlPlaneUrl }: Replica, surface: Request['surface'], text: string): Addressed {
    switch (surface) {
      case 'api':
        return { base: url, credential: { authorization: `Bearer ${apiKey}` } };
      case 'cp':
        return { base: `${url}/api/v1/cp`, credential: { cookie: `service_session=${session}` } };
      case 'provider':
        return {
          base: controlPlaneUrl,
          credential: { 'stripe-signature': signatureOf(text, { secret: WEBHOOK_SECRET }) },
        };
    }
  }

  async function send(replica: Replica, { surface, method, path, body }: Request): Promise<Reply> {
    const text = JSON.stringify(body) ?? '';
    const { base, credential } = addressed(replica, surface, text);
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { ...credential, ...(text !== '' && { 'content-type': 'application/json' }) },
        body: text === '' ? null : text,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const answer = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      return { status: response.status, body: isJson ? JSON.parse(answer) : answer };
    } catch (error) {
      return { status: 0, body: String((error as Error).cause ?? error) };
    }
  }

  async function mustMake(path: string, body: unknown): Promise<void> {
    const { status, body: answer } = await call({ surface: 'cp', method: 'POST', path, body });
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(answer)}`);
  }
  const keyed = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
  for (const [slug, method, path] of [
    [PUT, 'PUT', 'put'],
    [POST, 'POST', 'post'],
  ] as const) {
    const tool = { slug, description: `${method}s a key to the sink`, kind: 'webhook', schema: keyed };
    await mustMake('/v1/tools', { ...tool, body: { method, url: `${sink.url}/${path}/{key}`, timeout_s: 5 } });
  }
  const allowed_tool_slugs = [PUT, POST, 'spawn_run', 'current_time'];
  await mustMake('/v1/agents', {
    slug: 'prover',
    model: 'auto',
    prompt: 'You do as you are told.',
    allowed_tool_slugs,
  });
  for (const events of [['*'], ['run.failed', 'project.completed']]) {
    const { status } = await call({
      surface: 'api',
      method: 'POST',
      path: '/v1/webhooks',
      body: { url: `${sink.url}/hook`, events },
    });
    if (status !== 201) throw new Error(`no webhook: ${status}`);
  }
  const beat = { name: 'beat', agent_slug: 'prover', prompt: 'Still there?', interval_s: 10 };
  const heartbeat = await call({ surface: 'cp', method: 'POST', path: '/v1/heartbeats', body: beat });
  if (heartbeat.status !== 201) throw new Error(`no heartbeat: ${heartbeat.status}`);

  const accepted: Accepted = { runs: new Map(), projects: new Map() };
  const refused = new Set<string>();
  const paid = new Set<string>();
  const waits = waitsBy(call);
  const person = createPerson({ waits, sink, random, temporal, call });
  const underWay = new Set<Promise<unknown>>();
  let isOver = false;
  let count = 0;
  let open = 0;
  const pieceOf = (kind: Kind): Promise<void> =>
    kind({ name: `w${++count}`, customerId, random, call, accepted, refused, paid, billing });
  const keep = (work: Promise<unknown>): void => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };

  /** By the clock: work does not wait for the work before it. */
  async function keepStarting(): Promise<void> {
    while (!isOver) {
      const picked = pickWeighted(random, kinds);
      const kind = open < maxOpen ? picked : reading;
      keep(pieceOf(kind));
      await wait((1_000 / perSecond) * (0.5 + random()));
    }
  }
  async function keepAnswering(): Promise<void> {
    while (!isOver) {
      await person.look();
      open = await waits.countOpen().catch(() => open);
      await wait(500);
    }
  }

  return {
    customerId,
    session,
    accepted,
    paid,
    refused,
    calls,
    temporal,
    person,
    call,
    async doAlone(kind) {
      await pieceOf(kind);
      for (const deadline = Date.now() + PATIENCE_MS; (await waits.countOpen()) > 0 && Date.now() < deadline;) {
        await person.look();
        await wait(100);
      }
    },
    begin() {
      keep(keepStarting());
      keep(keepAnswering());
    },
    faultBegins() {
      faults += 1;
      faultsEver += 1;
    },
    faultEnds() {
      faults -= 1;
    },
    async finish() {
      isOver = true;
      while (underWay.size > 0) await Promise.allSettled(underWay);
      const path = `/v1/heartbeats/${heartbeat.body.id}`;
      for (let left = 20; (await call({ surface: 'cp', method: 'DELETE', path, isGood })).status !== 204; left--) {
        if (left === 0) throw new Error('the heartbeat cannot be deleted');
        await wait(1_000);
      }
    },
    close: () => temporal.close(),
  };
}

const isOk = (status: number): boolean => status >= 200 && status < 300;
/** What a repeated deletion may find. */
const isGood = (status: number): boolean => isOk(status) || status === 404;
