/**
 * Secrets stay where they belong. Every secret field holds a text that is nowhere else; after a scenario that uses all
 * of them none is in Temporal's histories, the log, the traces, the database or a reply, except the reply that made it.
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createLog } from '../../src/platform/core/log.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { openTracing } from '../../src/platform/observability/tracing.ts';
import { makeBelongings } from '../support/fixtures/belongings.ts';
import { dumpTables } from '../support/database/dump-tables.ts';
import { endpoints } from '../support/http/endpoints.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { readHistories } from '../support/temporal/histories.ts';
import {
  answer,
  failInStream,
  startOpenAiServer,
  type OpenAiServer,
  type Reply,
} from '../support/fakes/openai-server.ts';
import { mailbox } from '../support/service/otp.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../support/fakes/otlp-receiver.ts';
import { send } from '../support/http/send.ts';
import {
  call,
  eventually,
  startTestService,
  TEST_SECRETS,
  type FinishedRun,
  type TestService,
} from '../support/service/service.ts';
import { tried } from '../support/runner/sizes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

/** The replies that show a secret, once: to whoever just made it. */
const SHOWING = [
  'api-keys.create',
  'webhooks.create',
  'webhook-deliveries.createEndpoint',
  'webhook-deliveries.rotateSecret',
];

// One looks like a key, one like nothing in particular.
const ANTHROPIC_API_KEY = 'sk-ant-api03-canary-4f1c9e7a2b8d';
const OPENAI_API_KEY = 'canary.openai/9d2+e8a7==c3f1';
const OPENAI_COMPATIBLE_API_KEY = 'canary compatible 71b0 e5d9';

/** How a provider can give a key away that it was sent, by the word in the prompt. */
const LEAKS: Record<string, (key: string) => Reply> = {
  refusal: (key) => error(400, key),
  unauthorized: (key) => error(401, key),
  unknown: (key) => error(404, key),
  overflow: (key) => error(413, key),
  outage: (key) => error(503, key),
  stream: (key) => failInStream(`broken for ${key}`),
  garbage: (key) => (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: {"${key}\n\n`),
  shape: (key) => (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: {"choices": "${key}"}\n\n`),
};
/** Tried again by the workflow: the second answer is a good one, so that the run ends soon. */
const RETRIED = ['outage', 'stream', 'garbage', 'shape'];

const error =
  (status: number, key: string): Reply =>
  (response) => {
    const said = `The key ${key} of "Authorization: Bearer ${key}" may not do this`;
    response.writeHead(status, { 'content-type': 'application/json', 'x-key': key });
    response.end(JSON.stringify({ type: 'error', error: { message: said, type: key, code: key, param: key } }));
  };

let service: TestService;
let provider: OpenAiServer;
let receiver: WebhookReceiver;
let collector: OtlpReceiver;
const failed: Record<string, FinishedRun> = {};
/** Secret by name, and what was seen by place. */
const secrets: Record<string, string> = {
  ...TEST_SECRETS,
  ANTHROPIC_API_KEY,
  OPENAI_API_KEY,
  OPENAI_COMPATIBLE_API_KEY,
};
const places: Record<string, string> = {};

beforeAll(async () => {
  let log = '';
  const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
    jest.spyOn(console, name).mockImplementation(() => {}),
  );
  provider = await startLeakyProvider();
  receiver = await startWebhookReceiver(({ path }) => ({ status: 200, body: `taken ${path}` }));
  const destination = {
    write(line: string) {
      mailbox.write(line);
      log += line;
    },
  };
  const tracedLog = createLog({ level: 'trace', pretty: false, destination });
  collector = await startOtlpReceiver();
  // The exporter looks for its address there itself.
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  const tracing = await openTracing(process.env, tracedLog);
  service = await startTestService({
    log: tracedLog,
    env: {
      ANTHROPIC_API_KEY,
      OPENAI_API_KEY,
      OPENAI_COMPATIBLE_API_KEY,
      ANTHROPIC_BASE_URL: provider.baseUrl,
      OPENAI_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
    },
  });
  const replies = await carryOut();
  await tracing?.close();
  places['traces'] = collector.bytes().toString('latin1');
  places['the log'] = log;
  places['the console'] = printed
    .flatMap(({ mock }) => mock.calls.map((line) => line.map(String).join(' ')))
    .join('\n');
  places['replies'] = replies.join('\n');
  places['webhooks'] = JSON.stringify(receiver.received);
  places['the audit log'] = JSON.stringify(
    await service.runtime.db.rows(sql`select action, actor, target, change, status from audit_log`),
  );
  places['the database'] = (await dumpTables(service.runtime.db)).join('\n');
  const { TASK_QUEUE_PREFIX } = service.runtime.config;
  places['histories'] = await eventually(async () => {
    const histories = await readHistories(service.runtime.temporal, TASK_QUEUE_PREFIX);
    const missing = Object.values(failed).filter(({ run_id }) => !histories.has(`run-${run_id}`));
    if (missing.length > 0) throw new Error('not all are listed yet');
    return [...histories].join('\n');
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([provider.close(), receiver.close(), collector.close()]);
  jest.restoreAllMocks();
});

/** Everything that has to do with a secret. Gives all replies but those that may show one. */
async function carryOut(): Promise<string[]> {
  const replies: string[] = [];
  const keep = <Reply>(reply: Reply): Reply => {
    replies.push(JSON.stringify(reply));
    return reply;
  };
  const tenant = await service.tenant('acc_acme');
  const mark = 'mark-of-acme';
  const own = await makeBelongings(service, tenant, receiver, mark);
  const key = await tenant.cp('POST', '/v1/api-keys', { name: 'canary' });
  const webhook = await tenant.api('POST', '/v1/webhooks', { url: `${receiver.url}/canary` });
  const rotate = () => tenant.cp('POST', `/v1/webhook-deliveries/endpoints/${webhook.body.id}/rotate-secret`);
  const rotated = await rotate();
  Object.assign(secrets, {
    'the API key in use': tenant.apiKey,
    'another API key': key.body.key,
    'the session': tenant.session,
    'the webhook secret': rotated.body.secret,
    'the webhook secret before': webhook.body.secret,
    'the secret of an output destination': `${mark} signing secret`,
  });

  const leaking = Object.keys(LEAKS).map((kind) => ({ kind, model: 'default' }));
  leaking.push({ kind: 'refusal', model: 'claude-haiku-4-5' }, { kind: 'refusal', model: 'gpt-5.5' });
  await Promise.all(
    leaking.map(async ({ kind, model }) => {
      const body = { agent: 'assistant', prompt: `leak:${kind}`, override: { model_override: model } };
      failed[`${kind} ${model}`] = keep(await tenant.run(body));
    }),
  );
  await eventually(() => expect(receiver.received.length).toBeGreaterThanOrEqual(2 * leaking.length));

  // Credentials that are almost right are worth as much as right ones to whoever reads the log.
  const { baseUrl, controlPlaneUrl } = service;
  const all = {
    authorization: `Bearer ${tenant.apiKey}`,
    cookie: `service_session=${tenant.session}`,
    'x-operator-token': TEST_SECRETS.OPERATOR_TOKEN,
  };
  for (const url of [baseUrl, `${baseUrl}/api/v1/cp`, controlPlaneUrl]) {
    for (const path of [
      `/v1/runs?key=${tenant.apiKey}&session=${tenant.session}`,
      `/v1/runs/${own.runId}`,
      '/v1/nothing',
    ]) {
      keep(await call(url + path, 'GET', { ...all, 'x-service-session': tenant.session }));
      keep(await call(url + path, 'POST', { ...all, 'x-service-session': tenant.session }, { prompt: 1 }));
    }
  }
  for (const path of ['/openapi/public.json', '/openapi/control-plane.json', '/docs', '/healthz', '/readyz']) {
    keep(await call(baseUrl + path, 'GET', all));
  }
  const last = ({ method, path }: (typeof endpoints)[number]) =>
    method === 'delete' ? 100 - path.split('/').length : 0;
  for (const endpoint of [...endpoints].sort((a, b) => last(a) - last(b))) {
    const reply = await send(service, tenant, endpoint, await EXAMPLES[endpoint.id]?.(own));
    if (!SHOWING.includes(endpoint.id)) keep(reply);
  }
  return replies;
}

/** Answers the first call of each leaking kind with the key that it was sent, and everything else well. */
async function startLeakyProvider(): Promise<OpenAiServer> {
  const server = await startOpenAiServer();
  const leaked = new Set<string>();
  server.otherwise((response, request) => {
    const [, kind] = /leak:(\w+)/.exec(JSON.stringify(request.body)) ?? [];
    const key = String(request.headers['x-api-key'] ?? request.headers.authorization?.replace('Bearer ', ''));
    if (!kind || (RETRIED.includes(kind) && leaked.has(kind))) return answer('Done.')(response, request);
    leaked.add(kind);
    return present(LEAKS[kind])(key)(response, request);
  });
  return server;
}

/** As a search would have to look for it: as it is, in a JSON text, in an address, in bytes. */
const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
];

describe.each([
  'histories',
  'the log',
  'traces',
  'the console',
  'the database',
  'the audit log',
  'replies',
  'webhooks',
])('%s', (place) => {
  // Guards: a reader of this place cannot act as the service or as a tenant.
  test('has no secret', () => {
    expect(Object.keys(secrets)).toHaveLength(13);
    const found = Object.entries(secrets).filter(([, secret]) =>
      spellings(secret).some((text) => present(places[place]).includes(text)),
    );
    expect(found.map(([name]) => name)).toEqual([]);
    tried('secrets looked for', Object.keys(secrets).length);
  });
});

// Guards: the tests above can fail: each place holds what it should, and the providers received their keys.
test('the places are not empty', () => {
  const run = first(Object.values(failed)).run_id;
  const held: [place: string, text: string][] = [
    ...['histories', 'the log', 'the database', 'replies', 'webhooks'].map((place): [string, string] => [place, run]),
    ['histories', 'refused the request (400)'],
    ['the log', '"path":"/v1/nothing"'],
    ['the audit log', '"action":"api-keys.create"'],
    ['the audit log', '"action":"integrations.setCredential"'],
    ['the log', 'Activity failed'],
    ['traces', 'POST /v1/runs'],
    ['traces', 'chat offline'],
    ['the database', `${receiver.url}/canary`],
    ['webhooks', 'x-service-signature'],
  ];
  expect(held.filter(([place, text]) => !present(places[place]).includes(text))).toEqual([]);
  const sent = new Set(provider.requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization));
  expect([...sent].sort()).toEqual(
    [`Bearer ${OPENAI_API_KEY}`, `Bearer ${OPENAI_COMPATIBLE_API_KEY}`, ANTHROPIC_API_KEY].sort(),
  );
});

describe('a provider that gives the key away', () => {
  // Guards: a message to a person says what happened, without the key.
  test.each(['refusal default', 'refusal claude-haiku-4-5', 'refusal gpt-5.5', 'unknown default'])('%s', (name) => {
    expect(failed[name]).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^model_refused_request: .*\*\*\*.* may not do this/),
    });
  });
  test.each(RETRIED)('%s is tried again', (kind) => {
    expect(failed[`${kind} default`]).toMatchObject({ status: 'succeeded', output: 'Done.' });
  });
});
