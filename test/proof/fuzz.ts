/**
 * R5: whatever is sent, with valid credentials, to every endpoint of both surfaces: no status 5xx that its document does
 * not name, no reply that is not as documented, no request that hangs, no process that ends, and none that stands still
 * for more than 250 ms. The requests are those that schemathesis makes of the OpenAPI documents, and a corpus of our own
 * made of the declarations: hostile values, and long texts that are slow to read.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { sql } from 'drizzle-orm';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { first, itemAt, present } from '../../src/platform/core/present.ts';
import { makeBelongings, type Belongings } from '../support/fixtures/belongings.ts';
import { startCountingGateway, type PassedRequest } from '../support/processes/counting-gateway.ts';
import { deploy, metricsUrls, type Deployment } from '../support/processes/deployment.ts';
import { createReplyCheck, type Documents } from '../support/http/documented-replies.ts';
import type { Endpoint } from '../../src/platform/http/endpoint.ts';
import { endpoints } from '../support/http/endpoints.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { hostileElsewhere, textsElsewhere } from '../support/security/hostile-elsewhere.ts';
import {
  hostileRequests,
  lastDeletes,
  type HostileOptions,
  type HostileRequest,
} from '../support/security/hostile-requests.ts';
import { textRequests, type TextOptions } from '../support/security/hostile-text-requests.ts';
import { faultOfWire, floods, wireAttacks } from '../support/security/hostile-wire.ts';
import { claimsFor, startIdentityProvider } from '../support/fakes/identity-provider.ts';
import { mailbox } from '../support/service/otp.ts';
import { startProject } from '../support/fixtures/projects.ts';
import { findSchemathesis, runSchemathesis } from '../support/programs/schemathesis.ts';
import { createBytesSender } from '../support/http/send-bytes.ts';
import { credentialsOf, INTERNAL_CALLER } from '../support/http/send.ts';
import { eventually, tenantOf, TEST_SECRETS, type Tenant, type TestService } from '../support/service/service.ts';
import { findStalls, suspectsDuring, watchLoopsAt, type LoopProbe } from '../support/observability/stall-oracle.ts';
import { startWebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { keepLogs } from './keep-logs.ts';
import { prove, type Violation } from './report.ts';

const SIZES = {
  // Values at each place of each request, and random requests for each operation.
  full: {
    valuesAPlace: Infinity,
    maxExamples: 110,
    phases: ['coverage', 'fuzzing', 'stateful'],
    textsAPlace: 60,
    toTheCap: true,
  },
  small: { valuesAPlace: 2, maxExamples: 2, phases: ['fuzzing'], textsAPlace: 1, toTheCap: false },
} as const;
/** By a full run. */
const MUST_BE_SENT = 100_000;
/** A reader in quadratic time is over the limit with it, and not yet at it for minutes. */
const TEXT_LENGTH = 40_000;
/** How long what a request has set off is waited for, in ms. */
const SETTLING_MS = 5_000;
/** Made by requests, beside what was there before. */
const ACTING = {
  heartbeats: { ask: 'cp', at: '/v1/heartbeats' },
  scheduled_jobs: { ask: 'cp', at: '/v1/scheduled-jobs' },
  webhook_subscriptions: { ask: 'api', at: '/v1/webhooks' },
  output_destinations: { ask: 'cp', at: '/v1/output-destinations' },
} as const;
const MANY = 10;
/** How long a project that a request has made is left alone. */
const BEGINNING_MS = 1_000;
const A_DAY_S = 24 * 3_600;

await prove(
  { name: 'fuzz', claim: 'R5', title: 'nothing that is sent makes the service fail, hang or break its contract' },
  async ({ seed, small, say, repeat }) => {
    const { maxExamples, phases, ...corpus } = small ? SIZES.small : SIZES.full;
    const schemathesis = await findSchemathesis();
    if (typeof schemathesis === 'string') throw new Error(schemathesis);
    const identity = await startIdentityProvider();
    const receiver = await startWebhookReceiver();
    say('starting 2 API and 2 worker processes');
    const deployment = await deploy({
      metrics: true,
      settings: {
        ...identity.settings,
        WEBHOOK_ALLOW_HTTP: 'true',
        EGRESS_ALLOWLIST: receiver.hostAndPort,
        HOUSEKEEPING_INTERVAL: '2s',
        TURN_SECRET: 'turn-secret-of-the-tests',
        TURN_URLS: 'turn:turn.example.com',
      },
    });
    readMailOf(deployment);
    const apis = deployment.replicas.flatMap(({ url }) => url ?? []);
    const gateway = await startCountingGateway(apis);
    const tenant = tenantOf(gateway.url, INTERNAL_CALLER, deployment.apiKey, deployment.session);
    const violations: Violation[] = [];
    const violated = (what: string) => violations.push({ what, repeat });

    const documents = await readDocuments(gateway.url);
    for (const [surface, document] of Object.entries(documents)) {
      const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
      if (!valid) violated(`the document of ${surface} is no OpenAPI 3.1: ${JSON.stringify(errors).slice(0, 500)}`);
    }

    say('making one of each thing that can be named');
    const belongings = await makeBelongings(serviceAt(gateway.url, deployment), tenant, receiver, 'fuzz');

    const loops = watchLoopsAt(() => metricsUrls(deployment));
    const settle = settlerOf(deployment, tenant);

    say('hostile values and texts at every place of every request');
    const options = { ...corpus, seed, length: TEXT_LENGTH };
    const hostile = await sendHostileRequests(
      { apis, tenant, belongings, documents, loops, settle, violated, say },
      options,
    );
    say(`${countOf(hostile)} requests; now what is no HTTP`);
    const wire = await attackTheWire(apis, deployment.apiKey, tenant, loops, violated);

    say('what schemathesis makes of the documents');
    const session = {
      cookie: `service_session=${deployment.session}`,
      'x-operator-token': TEST_SECRETS.OPERATOR_TOKEN,
    };
    const token = await identity.token(claimsFor(tenant), { expiresAt: Math.floor(Date.now() / 1_000) + A_DAY_S });
    const identityOperations = endpoints.flatMap(({ id, credential }) => (credential === 'identity' ? id : []));
    const passes = [
      { name: 'public', baseUrl: gateway.url, headers: { Authorization: `Bearer ${deployment.apiKey}` } },
      { name: 'control-plane', baseUrl: `${gateway.url}/api/v1/cp`, headers: session },
      {
        name: 'identity',
        baseUrl: deployment.replicas[0]!.controlPlaneUrl!,
        operationIds: identityOperations,
        headers: { Authorization: `Bearer ${token}` },
        takesEither: true,
      },
    ];
    let generated = 0;
    for (const { name, ...pass } of passes) {
      const documentUrl = `${gateway.url}/openapi/${name === 'public' ? 'public' : 'control-plane'}.json`;
      const folder = join(deployment.folder, `schemathesis-${name}`);
      const asking = runSchemathesis(schemathesis.python, {
        ...pass,
        seed,
        maxExamples,
        phases,
        documentUrl,
        folder,
      });
      const { result, suspects } = await suspectsDuring(loops, gateway.passedSince, asking);
      const { requests, operations, findings } = result;
      say(
        `${name}: ${requests} requests to ${operations} operations, ${suspects.length} of them to be sent again alone`,
      );
      generated += requests;
      findings.forEach(violated);
      const sender = createBytesSender(8);
      const sendAgain = async (some: readonly PassedRequest[]) => {
        await Promise.allSettled(some.map((request) => sender.send({ url: first(apis), ...request })));
        await settle();
      };
      for (const { work, ms } of await findStalls(loops, suspects, sendAgain)) {
        violated(`${work.method} ${work.path.slice(0, 200)} ${work.body.toString().slice(0, 200)}: ${stoodStill(ms)}`);
      }
      sender.close();
    }
    if (!small && generated + countOf(hostile) < MUST_BE_SENT)
      violated(`fewer than ${MUST_BE_SENT} requests were sent`);
    gateway.unanswered.forEach((request) => violated(`no process answered ${request}`));

    say('what is left of the service');
    await checkWhatIsLeft(deployment, tenant, violated);
    if (violations.length > 0) say(`logs are in ${await keepLogs(deployment.folder, `fuzz-${seed}`)}`);
    const runs = await deployment.db.rows<{ count: number }>(sql`select count(*)::int as count from runs`);
    await gateway.close();
    await deployment.close();
    await receiver.close();
    await identity.close();
    return {
      did: {
        operations: endpoints.length,
        'requests of schemathesis': generated,
        'hostile requests': countOf(hostile),
        'attacks below HTTP': wire,
        'runs that were accepted': first(runs).count,
        'answers to hostile requests': inOrder(hostile),
        'answers to schemathesis': inOrder(gateway.answered),
      },
      violations,
    };
  },
);

/** Codes of the OTP gate are mailed, which is to say logged, by whichever API process asked for them. */
function readMailOf({ replicas }: Deployment): void {
  for (const { running } of replicas) {
    let rest = '';
    running?.child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = present(lines.pop());
      lines.forEach((line) => mailbox.write(line));
    });
  }
}

/** What belongings are made with. Their output deliveries are started by housekeeping, as after a crash. */
function serviceAt(baseUrl: string, { db }: Deployment): TestService {
  const services = { destinations: { startRecorded: async () => {} } };
  return { baseUrl, runtime: { db }, services } as unknown as TestService;
}

async function readDocuments(url: string): Promise<Documents> {
  const read = async (name: string) => (await fetch(`${url}/openapi/${name}.json`)).json();
  return { public: await read('public'), 'control-plane': await read('control-plane') } as Documents;
}

/**
 * Waits for the runs that requests have set off; for none that waits for something else. Projects that they have made are
 * given up when they have begun: hundreds of pipelines at work would say nothing more, and keep everything else waiting.
 */
function settlerOf({ db }: Deployment, tenant: Tenant): () => Promise<void> {
  const { rows } = db;
  const begunAt = new Date();
  const abandonProjects = async () => {
    const made = await rows<{ id: string }>(sql`
      select id from projects where status in ('planning', 'active', 'paused') and customer_id = ${tenant.caller.customerId}
        and created_at > ${begunAt} and created_at < now() - ${BEGINNING_MS} * interval '1 ms'`);
    await Promise.allSettled(made.map(({ id }) => tenant.cp('POST', `/v1/projects/${id}/abandon`, {})));
  };
  /** What acts by itself, or hears of every run: each would make all that comes after slower. */
  const removeMade = async () => {
    for (const [table, path] of Object.entries(ACTING)) {
      const made = await rows<{ id: string }>(sql`
        select id::text as id from (
          select ${table === 'scheduled_jobs' ? sql`'custom-' || n` : sql`id`} as id, created_at, customer_id
          from ${sql.identifier(table)} ${table === 'webhook_subscriptions' ? sql`where deleted_at is null` : sql``}) t
        where customer_id = ${tenant.caller.customerId} and created_at > ${begunAt}`);
      if (made.length < MANY) continue;
      const { ask, at } = path;
      await Promise.allSettled(made.map(({ id }) => tenant[ask]('DELETE', `${at}/${id}`)));
    }
  };
  const countOpen = async () => {
    const counted = first(
      await rows<{ open: number }>(sql`select count(*)::int as open from runs where status in ('queued', 'running')`),
    );
    return counted.open;
  };
  let before = 0;
  return async () => {
    await abandonProjects();
    await removeMade();
    let open = await countOpen();
    for (const deadline = Date.now() + SETTLING_MS; open > before && Date.now() < deadline; open = await countOpen()) {
      await wait(50);
    }
    before = open;
  };
}

const stoodStill = (ms: number): string => `a process stood still for ${ms} ms`;

interface Attacked {
  apis: readonly string[];
  tenant: Tenant;
  belongings: Belongings;
  documents: Documents;
  loops: LoopProbe;
  settle: () => Promise<void>;
  violated: (what: string) => void;
  say: (text: string) => void;
}

async function sendHostileRequests(
  { apis, tenant, belongings, documents, loops, settle, violated, say }: Attacked,
  options: Required<HostileOptions> & TextOptions,
): Promise<Map<number, number>> {
  const faultOfReply = createReplyCheck(documents);
  const sender = createBytesSender(8);
  const answered = new Map<number, number>();
  const told = new Set<string>();
  let sent = 0;
  // Once for each endpoint: one fault shows with many values.
  const tell = ({ endpoint, method, path, what }: HostileRequest, fault: string, kind = fault) => {
    if (told.has(`${endpoint.id} ${kind}`)) return;
    told.add(`${endpoint.id} ${kind}`);
    violated(`${method} ${path.slice(0, 200)} with ${what}: ${fault}`);
  };
  const sendOne = async (request: HostileRequest, faultOfAnswer: typeof faultOfReply) => {
    const { endpoint, method, path, headers, body } = request;
    const url = itemAt(apis, sent++ % apis.length);
    const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
    const all = { ...headers, ...credentialsOf(tenant, endpoint) };
    const fault = await sender.send({ url, method, path: prefix + path, headers: all, ...(body && { body }) }).then(
      (reply) => {
        answered.set(reply.status, (answered.get(reply.status) ?? 0) + 1);
        return reply.headers['x-injected'] ? 'a header of the caller is in it' : faultOfAnswer(endpoint, reply);
      },
      (error: Error) => error.message,
    );
    if (fault) tell(request, fault);
  };
  const sendAll = async (requests: readonly HostileRequest[], faultOfAnswer = faultOfReply) => {
    const sendSome = async (some: readonly HostileRequest[]) => {
      await Promise.all(some.map((request) => sendOne(request, faultOfAnswer)));
      await settle();
    };
    for (const { work, ms } of await findStalls(loops, requests, sendSome)) tell(work, stoodStill(ms), 'stall');
  };
  const inTurn = lastDeletes(endpoints);
  for (const [at, endpoint] of inTurn.entries()) {
    if (at > 0 && at % 20 === 0) say(`${at} of ${inTurn.length} endpoints, ${sent} requests`);
    const parts = (await EXAMPLES[endpoint.id]?.(belongings)) ?? {};
    await sendAll(hostileRequests(endpoint, parts, options));
    await sendAll(textRequests(endpoint, parts, { ...options, seed: options.seed + endpoints.indexOf(endpoint) * 7 }));
  }
  // No document tells of these.
  const unlessFailed = (_endpoint: Endpoint, { status }: { status: number }) =>
    status < 500 ? undefined : `it is ${status}`;
  await sendAll(hostileElsewhere(options), unlessFailed);
  await sendAll(textsElsewhere(options), unlessFailed);
  sender.close();
  return answered;
}

function countOf(answered: ReadonlyMap<number, number>): number {
  return [...answered.values()].reduce((sum, count) => sum + count, 0);
}

function inOrder(answered: ReadonlyMap<number, number>): string {
  const statuses = [...answered].sort(([a], [b]) => a - b);
  return statuses.map(([status, count]) => `${status}: ${count}`).join(', ');
}

async function attackTheWire(
  apis: readonly string[],
  apiKey: string,
  tenant: Tenant,
  loops: LoopProbe,
  violated: (what: string) => void,
): Promise<number> {
  const { session } = tenant;
  // The one before was ended by what was sent to it.
  const projectId = await startProject(tenant, 'blog-post');
  const attacks = wireAttacks(`authorization: Bearer ${apiKey}\r\n`);
  const endless = floods({ apiKey, session, projectId });
  for (const url of apis) {
    for (const attack of [...attacks, ...endless]) {
      const attackOnce = async () => {
        const fault = await faultOfWire(url, attack);
        if (fault) violated(`${attack.name}: ${fault}`);
      };
      for (const { ms } of await findStalls(loops, [attack], attackOnce)) violated(`${attack.name}: ${stoodStill(ms)}`);
    }
  }
  return apis.length * (attacks.length + endless.length);
}

/** A line of a log with what tells of it, in the length of a violation. */
function withoutStacks(line: string): string {
  const stackless = (key: string, value: unknown) => (key === 'stack' ? undefined : value);
  return JSON.stringify(JSON.parse(line), stackless).slice(0, 1_200);
}

async function checkWhatIsLeft(deployment: Deployment, tenant: Tenant, violated: (what: string) => void) {
  for (const { name, running } of deployment.replicas) {
    const { exitCode, signalCode } = present(running).child;
    if (exitCode !== null || signalCode !== null) violated(`${name} ended with ${exitCode ?? signalCode}`);
    const log = await readFile(join(deployment.folder, `${name}.log`), 'utf8');
    const errors = new Map<string, string>();
    for (const line of log.split('\n').filter((one) => /"level":"?(?:50|60|error|fatal)/.test(one))) {
      const { msg, sdk } = JSON.parse(line) as { msg: string; sdk?: { sdkComponent: string } };
      // The core of the SDK calls its own races errors, and sees to them.
      if (sdk?.sdkComponent !== 'core') errors.set(msg, line);
    }
    for (const line of errors.values()) violated(`${name} logged ${withoutStacks(line)}`);
  }
  // The key that schemathesis had may be one that it revoked.
  const { body: fresh } = await tenant.cp('POST', '/v1/api-keys', { name: 'after' });
  const after = tenantOf(deployment.replicas[0]!.url!, tenant.caller, fresh.key as string, tenant.session);
  const { status } = await after.run({ agent: 'assistant', prompt: 'Say something.' });
  if (status !== 'succeeded') violated(`a run afterwards ${status}`);
  await eventually(async () => {
    const rows = await deployment.db.rows<{ error: string; count: number }>(
      sql`select error, count(*)::int as count from runs where error like 'internal_error%' group by error`,
    );
    for (const { error, count } of rows) violated(`${count} runs ended with ${error.slice(0, 400)}`);
  });
}
