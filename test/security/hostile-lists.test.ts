/**
 * Many small things instead of one large one, to every endpoint that takes a list: an endpoint is in by being declared.
 * None of them may hold the process up, nor be told as a failure of the service.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { makeBelongings, type Belongings } from '../support/fixtures/belongings.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { byId, endpoints } from '../support/http/endpoints.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { createBytesSender } from '../support/http/send-bytes.ts';
import { credentialsOf } from '../support/http/send.ts';
import { findStalls, watchOwnLoop } from '../support/observability/stall-oracle.ts';
import { listRequests } from '../support/security/hostile-lists.ts';
import { lastDeletes, rightRequest, type HostileRequest } from '../support/security/hostile-requests.ts';
import { standInForEmbeddings } from '../support/service/embeddings.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const SET_UP_MS = 300_000;

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let belongings: Belongings;
let loop: ReturnType<typeof watchOwnLoop>;
const sender = createBytesSender(1);

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  tenant = await service.tenant('acc_lists', 'scale');
  belongings = await makeBelongings(service, tenant, receiver, 'lists');
  standInForEmbeddings(service);
  loop = watchOwnLoop();
}, SET_UP_MS);
afterAll(async () => {
  loop?.stop();
  sender.close();
  await service?.close();
  await receiver?.close();
});

/** @returns what is wrong: a request that stops the others, or one that is told as the service's own failure */
async function faultsOf(requests: readonly HostileRequest[], expected?: number): Promise<string[]> {
  const faults = new Set<string>();
  const sendAll = async (some: readonly HostileRequest[]) => {
    for (const { endpoint, method, path, headers, body, what } of some) {
      const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
      const all = { ...headers, ...credentialsOf(tenant, endpoint) };
      const { status } = await sender.send({
        url: service.baseUrl,
        method,
        path: prefix + path,
        headers: all,
        ...(body && { body }),
      });
      if (status >= 500 || status !== (expected ?? status)) faults.add(`${what}: it is answered ${status}`);
    }
  };
  for (const { work, ms } of await findStalls(loop, requests, sendAll)) faults.add(`${work.what}: ${ms} ms`);
  return [...faults];
}

const takingLists = lastDeletes(endpoints.filter((each) => listRequests(each, {}, 1).length > 0));

describe.each(byId(takingLists))('%s', (id, endpoint) => {
  // Guards: no number of items in a list stops everybody else, or is told as a failure of the service.
  test('takes or refuses long lists in time', async () => {
    const parts = (await EXAMPLES[id]?.(belongings)) ?? {};
    const requests = [1_000, 10_000].flatMap((items) => listRequests(endpoint, parts, items));
    expect(await faultsOf(requests)).toEqual([]);
  });
});

/** Files that name many things each: lists within free content, which no declaration of a body shows. */
const PLANS: readonly [string, () => object, number][] = [
  ['20 unknown tools in each of 100 agents beside 300 tools', () => plan(agents(100, 20), tools(300)), 422],
  ['200 unknown tools in each of 400 agents', () => plan(agents(400, 200)), 422],
  ['100 unknown tools in each of 200 agents beside 800 tools', () => plan(agents(200, 100), tools(800)), 422],
  ['400,000 secrets', () => ({ ...plan(), secrets: secrets(400_000) }), 413],
  ['90,000 secrets', () => ({ ...plan(), secrets: secrets(90_000) }), 422],
  ['1,000 secrets of 5,000 characters', () => ({ ...plan(), secrets: secrets(1_000, 'x'.repeat(5_000)) }), 200],
  ['500,000 manifests', () => plan(Array.from({ length: 500_000 }, () => ({}))), 413],
  ['90,000 unknown fields in one file', () => plan([file('agent', 90_000)]), 422],
  ['90 unknown fields in each of 1,000 files', () => plan(Array.from({ length: 1_000 }, () => file('agent', 90))), 422],
  ['700 files of 10 kB', () => plan(tools(700, 'x'.repeat(10_000))), 422],
];
const file = (kind: string, fields: number) => ({
  kind,
  content: Object.fromEntries(Array.from({ length: fields }, (_, n) => [`field${n}`, n])),
});
const plan = (...manifests: readonly object[][]) => ({ manifests: manifests.flat() });
const secrets = (count: number, value = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`S${n}`, value]));
const agents = (count: number, tools: number) =>
  Array.from({ length: count }, (_, n) => ({
    kind: 'agent',
    content: {
      slug: `agent-${n}`,
      prompt: 'You help.',
      allowed_tools: Array.from({ length: tools }, (_, at) => `an-unknown-tool-of-a-long-name-${n}-${at}`),
    },
  }));
const tools = (count: number, description = 'Stands in.') =>
  Array.from({ length: count }, (_, n) => ({
    kind: 'tool',
    content: { slug: `a-known-tool-of-a-long-name-${n}`, description, kind: 'stub', body: { result: 'x' } },
  }));

// Guards: lists in files multiply, and neither their product nor any one of them stops everybody else.
test.each(PLANS)('a plan of %s', async (what, make, expected) => {
  const endpoint = present(endpoints.find(({ id }) => id === 'manifests.plan'));
  expect(await faultsOf([{ ...rightRequest(endpoint, { body: make() }), what }], expected)).toEqual([]);
});

/** The same values as bytes in which commas and quotes are not those of UTF-8. */
const CHARSETS: readonly [string, Buffer][] = [
  ['utf-16le', Buffer.from(`{"source":"\\"","values":[${'1,'.repeat(1_900_000)}1]}`, 'utf16le')],
  ['utf-7', Buffer.from(`{"values":[${`1+${'ACwAMQ'.repeat(8)}-`.repeat(120_000)}1]}`)],
];

// Guards against: a charset in which values are not counted, so that millions of them are parsed.
test.each(CHARSETS)('a plan of a million values in %s', async (charset, body) => {
  const endpoint = present(endpoints.find(({ id }) => id === 'manifests.plan'));
  const headers = { 'content-type': `application/json; charset=${charset}` };
  expect(await faultsOf([{ ...rightRequest(endpoint, {}), what: charset, headers, body }], 400)).toEqual([]);
});

const ARGUMENTS: readonly [string, () => object][] = [
  ['50,000 unknown arguments', () => file('agent', 50_000).content],
  ['a list of 400,000 values', () => ({ values: Array.from({ length: 400_000 }, () => 1) })],
];

// Guards: the MCP server, which reads bodies by itself, is held up by none of them either.
test.each(ARGUMENTS)('a call of an MCP tool with %s', async (what, make) => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_agents', arguments: make() } };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const send = () =>
    sender.send({
      url: service.baseUrl,
      method: 'POST',
      path: '/mcp',
      headers: { ...headers, authorization: `Bearer ${tenant.apiKey}` },
      body: Buffer.from(JSON.stringify(call)),
    });
  expect((await send()).status).toBe(200);
  expect(await findStalls(loop, [what], send)).toEqual([]);
});
