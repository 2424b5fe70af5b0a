/**
 * Whoever has the address of a page may answer it, so that no reply to a viewer may tell one, or a part of one. Addresses of
 * every kind are planted in every text that somebody or an agent can write; then a viewer reads everything.
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { can, standingIn } from '../../src/platform/core/rights.ts';
import { isStreamReply, type Endpoint } from '../../src/platform/http/endpoint.ts';
import { download } from '../resources/exports/download.ts';
import { newTenant, openForm } from '../resources/miniapps/people.ts';
import { unpack } from '../support/archives/unpack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { makeBelongings, makeExport, type Belongings } from '../support/fixtures/belongings.ts';
import { dispatch, tool } from '../support/fixtures/runs.ts';
import { byId, endpoints, isOfOperator, parameterNames } from '../support/http/endpoints.ts';
import { EVENT_STREAM, openStream } from '../support/http/event-stream.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { createBytesSender } from '../support/http/send-bytes.ts';
import { credentialsOf, type RequestParts } from '../support/http/send.ts';
import { tried } from '../support/runner/sizes.ts';
import { addressWith } from '../support/security/hostile-requests.ts';
import {
  fragmentFinder,
  guessesOf,
  liveAddresses,
  plantingRequests,
  textWith,
  type LiveAddress,
} from '../support/security/page-addresses.ts';
import { sessionFor, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

jest.setTimeout(300_000);

const AGENT = 'planter';
let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let belongings: Belongings;
let addresses: LiveAddress[];
let text: string;
let fragmentsIn: (text: string) => string[];
/** Of the agent that wrote the text with every tool. */
let runId: string;
/** By the name of a parameter: what there is to be read. */
let ids: Record<string, (string | number)[]>;
const sender = createBytesSender(4);

const idsOf = async (query: SQL) => (await service.runtime.db.rows<{ id: string }>(query)).map(({ id }) => id);

beforeAll(async () => {
  // What is asked for by a path with `refuse` is answered with an error; either way the answer tells the addresses.
  receiver = await startWebhookReceiver(({ path }) => ({
    status: path.includes('refuse') ? 422 : 200,
    body: text ?? '',
  }));
  service = await startTestService({
    env: { LIVE_STREAM_LIFE: '1h', WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
  });
  tenant = await newTenant(service, 'acc_pages');
  belongings = await makeBelongings(service, tenant, receiver, 'pages');
  const page = await openForm(service, tenant);
  addresses = await liveAddresses(service, tenant, { pageUrl: page.url, waitId: belongings.waitId });
  text = textWith(addresses);
  fragmentsIn = fragmentFinder(addresses);
  await plantByAgent();
  await plantByPeople();
  const { customerId } = tenant.caller;
  ids = {
    run_id: await idsOf(sql`select id from runs where customer_id = ${customerId}`),
    project_id: await idsOf(sql`select id from projects where customer_id = ${customerId}`),
    artifact_id: await idsOf(sql`select id from artifacts where customer_id = ${customerId}`),
    wait_id: await idsOf(sql`select id from waits where customer_id = ${customerId}`),
    entry_id: await idsOf(sql`select id from memory_entries where customer_id = ${customerId}`),
    'files.download': await idsOf(sql`select id from attachments where customer_id = ${customerId}`),
    'run-artifacts.get': await idsOf(sql`select id from run_artifacts where customer_id = ${customerId}`),
  };
});
afterAll(async () => {
  sender.close();
  await service?.close();
  await receiver?.close();
});

/** An agent writes them with its tools, and is told them by what it calls. */
async function plantByAgent(): Promise<void> {
  for (const slug of ['answer', 'refuse'])
    await tenant.cp('POST', '/v1/tools', {
      slug: `planted-${slug}`,
      description: 'Asks another service.',
      kind: 'webhook',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
      body: { url: `${receiver.url}/${slug}` },
    });
  await tenant.cp('POST', '/v1/agents', {
    slug: AGENT,
    model: 'offline',
    prompt: text,
    allowed_tool_slugs: ['planted-answer', 'planted-refuse', 'save_artifact', 'memory_write', 'ask_human'],
  });
  const calls = [
    tool('planted-answer', { text }),
    tool('planted-refuse', { text }),
    tool('save_artifact', { filename: 'planted.md', content: text }),
    tool('memory_write', { content: text }),
  ];
  ({ run_id: runId } = await tenant.run({ agent: AGENT, prompt: `${text} ${calls.join(' ')}` }));
  await dispatch(tenant, { agent: AGENT, prompt: tool('ask_human', { question: text }) });
}

/** People write them into each text of each request that the service takes. */
async function plantByPeople(): Promise<void> {
  const writes = endpoints.filter(({ method, rawBody }) => !['get', 'delete'].includes(method) && !rawBody);
  const statuses = new Map<number, number>();
  for (const endpoint of writes) {
    for (const { method, path, headers, body } of plantingRequests(endpoint, await partsOf(endpoint), text)) {
      const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
      const all = { ...headers, ...credentialsOf(tenant, endpoint) };
      const asked = { url: service.baseUrl, method, path: prefix + path, headers: all, ...(body && { body }) };
      const { status } = await sender.send(asked);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }
  const taken = [...statuses].reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0);
  expect(taken).toBeGreaterThan(40);
  tried('texts with page addresses that were taken', taken);
}

const partsOf = async ({ id }: Endpoint): Promise<RequestParts> => (await EXAMPLES[id]?.(belongings)) ?? {};
const viewer = () => ({ 'x-service-session': sessionFor(tenant.caller, 'viewer') });

async function read(path: string): Promise<{ status: number; text: string }> {
  return sender.send({ url: service.controlPlaneUrl, method: 'GET', path, headers: viewer() });
}

/** Lists without a filter, the example, and each thing that there is. */
async function pathsOf(endpoint: Endpoint): Promise<string[]> {
  const example = await partsOf(endpoint);
  const paths = [addressWith(endpoint, example)];
  const names = parameterNames(endpoint);
  if (names.length === 0) paths.push(addressWith(endpoint, {}));
  for (const name of names)
    for (const id of ids[name === 'id' ? endpoint.id : name] ?? [])
      paths.push(addressWith(endpoint, { ...example, params: { ...example.params, [name]: id } }));
  if (endpoint.id in ids && names.length === 0)
    for (const id of present(ids[endpoint.id])) paths.push(addressWith(endpoint, { query: { id } }));
  return [...new Set(paths)];
}

const LOOKER = { standing: standingIn('acc_pages', 'viewer') };
const READS = endpoints.filter(
  (endpoint) =>
    endpoint.method === 'get' &&
    endpoint.surface === 'control-plane' &&
    !isOfOperator(endpoint) &&
    (endpoint.right === undefined || can(LOOKER, endpoint.right)),
);

/** Bytes: the planted text is shorter. */
const A_TEXT = 2_500;

async function cutEverywhere(): Promise<void> {
  const path = `/v1/runs/${runId}/context/content`;
  const { text: whole } = await read(path);
  const total: number = JSON.parse(whole).total_bytes;
  expect(total).toBeGreaterThan(2_000);
  for (let before = total; before > Math.max(0, total - A_TEXT); before -= 3) {
    const { text: part, status } = await read(`${path}?before_byte=${before}`);
    expect({ before, status, found: fragmentsIn(part) }).toEqual({ before, status: 200, found: [] });
  }
}

async function guessEverything(): Promise<void> {
  const answerTo = async (q: string) => {
    const { status, text: found } = await read(`/v1/search?q=${encodeURIComponent(q)}&limit=100`);
    return { status, found: found.replaceAll(q, '<q>') };
  };
  const secrets = [...new Set(addresses.flatMap((address) => address.secrets))];
  for (const secret of secrets) {
    for (const [guess, other] of guessesOf(secret)) expect(await answerTo(guess)).toEqual(await answerTo(other));
    expect(await answerTo(`"${secret}"`)).toEqual(await answerTo(`"${[...secret].reverse().join('')}"`));
  }
}

describe('a viewer', () => {
  // Guards: no reply to a viewer has a part of the address of a page that takes an answer, wherever somebody wrote it.
  test.each(byId(READS.filter(({ reply }) => !isStreamReply(reply as object))))(
    'is told none by %s',
    async (id, endpoint) => {
      for (const path of await pathsOf(endpoint)) {
        const { text: reply, status } = await read(path);
        expect({ path, found: fragmentsIn(reply) }).toEqual({ path, found: [] });
        if (status < 300) tried('replies searched for page addresses');
        if (id === 'files.download' && path.includes(String(present(ids['files.download'])[0])))
          expect(status).toBe(200);
      }
    },
  );

  // Guards: the same for streams of everything that happened and of what happens.
  test.each(byId(READS.filter(({ reply, stream }) => stream ?? isStreamReply(reply as object))))(
    'is told none by the stream of %s',
    async (_, endpoint) => {
      const { params } = await partsOf(endpoint);
      const path = addressWith(endpoint, { params: { ...params, run_id: runId }, query: { after: '0' } });
      const url = service.controlPlaneUrl + path;
      const { run_id: latest } = await tenant.run({ agent: AGENT, prompt: text });
      const stream = await openStream(url, { accept: EVENT_STREAM, ...viewer() });
      expect(stream.response.status).toBe(200);
      if (endpoint.id === 'live.follow')
        await stream.first(({ data }) => data.run_id === latest && data.topic === 'run_completed');
      else await stream.first(({ event }) => ['end', 'open'].includes(event));
      await stream.close();
      expect(fragmentsIn(stream.text())).toEqual([]);
    },
  );

  // Guards against: a page of the context that begins within an address.
  test('is told none by any cut of the context', () => cutEverywhere());

  // Guards against: a search that answers a right guess at the letters of an address otherwise than a wrong one.
  test('learns no letter of one by searching', async () => {
    await guessEverything();
    // The texts themselves are found, at each place of theirs.
    for (const word of ['planted', 'miniapps', 'nothing']) {
      const { text: found } = await read(`/v1/search?q=${word}&limit=100`);
      expect(JSON.parse(found).data.length).toBeGreaterThan(5);
      expect(fragmentsIn(found)).toEqual([]);
    }
  });
});

// Guards: an archive, which goes anywhere, has no address that takes an answer.
test('an export has none', async () => {
  const archive = await unpack(await download(service, tenant, await makeExport(tenant)));
  const found = [...archive].flatMap(([name, bytes]) =>
    fragmentsIn(bytes.toString('latin1')).map((it) => `${name}: ${it}`),
  );
  expect(found).toEqual([]);
  expect([...archive.values()].some((bytes) => bytes.includes('Planted: '))).toBe(true);
});

// Guards: nothing of an address is in the database, but for digests.
test('no row has one', async () => {
  const tables = await service.runtime.db.rows<{ name: string }>(sql`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
  for (const { name } of tables) {
    const rows = await service.runtime.db.rows<{ row: string }>(
      sql`select t::text as row from ${sql.identifier(name)} t`,
    );
    expect({ name, found: rows.flatMap(({ row }) => fragmentsIn(row)) }).toEqual({ name, found: [] });
  }
  expect(tables.length).toBeGreaterThan(50);
});

// Guards: who may answer still gets the address that works, from the service and from the agent's own tools.
test('members and receivers get working addresses', async () => {
  const page = itemAt(addresses, 0).url;
  const member = { cookie: `service_session=${sessionFor(tenant.caller, 'member')}` };
  const seen = await sender.send({
    url: service.baseUrl,
    method: 'GET',
    path: `/api/v1/cp/v1/runs/${runId}/events`,
    headers: member,
  });
  const token = present(page.split('/').at(-1));
  expect(seen.text).toContain(`/miniapps/${token}`);
  const keyless = await fetch(page.replace(/_[\w-]+$/, ''));
  expect(keyless.status).toBe(404);
  expect(await keyless.text()).toContain('answer it in the inbox');
  await tenant.run({ agent: AGENT, prompt: tool('planted-answer', { text: `Please answer ${page}` }) });
  const told = receiver.received.find(({ body }) => body.includes('Please answer'));
  expect(told?.body).toContain(`/miniapps/${token}`);
  expect((await fetch(page, { method: 'POST', body: '{"size":"XL"}' })).status).toBe(200);
});

// Guards: a row that was written past the service's own database client has keys, and no reader of it is told any, whole, cut or guessed.
test('a viewer is told none of what was stored before', async () => {
  // In two parts, as the product's own database client would store it without the key.
  const [start, end] = [
    text
      .replaceAll(/miniapps|act\b|token/g, '$&\u0001')
      .split('\u0001')
      .join('~~'),
    '~~',
  ];
  const stored = sql`replace(${start}, ${end}, '')`;
  const ofRun = sql`where run_id = ${runId} and role = 'user'`;
  await service.runtime.db.rows(sql`update runs set prompt = ${stored}, output = ${stored} || ${stored},
    completed_at = completed_at + interval '1 ms' where id = ${runId}`);
  // A page of a context has 64 KB: one of more begins at each place of the text.
  await service.runtime.db.rows(
    sql`update run_messages set content = to_jsonb(repeat(${stored} || ' ', 100)) ${ofRun}`,
  );
  await service.runtime.db.rows(sql`update projects set title = ${stored} where id = ${belongings.projectId}`);
  const kept = await service.runtime.db.rows<{ row: string }>(
    sql`select r::text as row from runs r where id = ${runId}`,
  );
  expect(fragmentsIn(itemAt(kept, 0).row).length).toBeGreaterThan(100);
  for (const path of [`/v1/runs/${runId}/summary`, `/v1/runs/${runId}/transcript`, '/v1/projects', '/v1/runs/search'])
    expect({ path, found: fragmentsIn((await read(path)).text) }).toEqual({ path, found: [] });
  await guessEverything();
  const archive = await unpack(await download(service, tenant, await makeExport(tenant)));
  expect([...archive.values()].flatMap((bytes) => fragmentsIn(bytes.toString('latin1')))).toEqual([]);
  await cutEverywhere();
});
