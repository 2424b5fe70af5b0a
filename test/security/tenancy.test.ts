/**
 * Nothing crosses from one workspace to another. Two workspaces own one of each thing; one asks every endpoint for what
 * is the other's, and must get, to the byte, what it gets for something that does not exist.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../src/platform/core/present.ts';
import { isAudited } from '../../src/platform/http/audit.ts';
import { isStreamReply, type Endpoint } from '../../src/platform/http/endpoint.ts';
import { makeBelongings, NOBODYS, type Belongings } from '../support/fixtures/belongings.ts';
import { dumpRecords } from '../support/database/dump-tables.ts';
import { byId, endpoints, isOfOperator, parameterNames } from '../support/http/endpoints.ts';
import { EXAMPLES, SAME_FOR_ALL } from '../support/http/examples.ts';
import { send, sendConfirmed } from '../support/http/send.ts';
import { elsewhere } from '../support/http/endpoints-elsewhere.ts';
import { ACT, linkOf, SPENT_LINKS, TOKEN_ADDRESSES, WRONG_LINKS, type Hands } from '../support/security/wrong-links.ts';
import { tried } from '../support/runner/sizes.ts';
import { startTestService, type Answer, type Tenant, type TestService } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

/** The one endpoint that the specification lets tell: revoking another workspace's key. */
const TELLING: Record<string, Pick<Answer, 'status' | 'body'>> = {
  'api-keys.revoke': { status: 403, body: { detail: 'not_your_key' } },
};

/** Beside what is listed it counts what is the asker's own, and a count may be the number of a foreign key. */
const COUNTING: typeof TELLING = { 'inbox.list': { status: 200, body: { data: [] } } };

const MARK_A = 'mark-of-alba';
const MARK_B = 'mark-of-bora';

let service: TestService;
let receiver: WebhookReceiver;
let alba: Tenant;
let bora: Tenant;
let albas: Belongings;
let boras: Belongings;
/** All that bora can read, before alba owned anything and after. */
let before: Record<string, string>;
let after: Record<string, string>;

beforeAll(async () => {
  receiver = await startWebhookReceiver(({ path }) => ({ status: 200, body: `taken ${path}` }));
  service = await startTestService({
    // The list and the detail of workspaces are of everybody otherwise, as the specification has them.
    env: {
      WORKSPACES_SCOPED: 'true',
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      TURN_SECRET: 'turn-secret-of-the-tests',
      TURN_URLS: 'turn:turn.example.com',
    },
  });
  alba = await service.tenant('acc_alba');
  bora = await service.tenant('acc_bora');
  boras = await makeBelongings(service, bora, receiver, MARK_B);
  before = await readAll(bora, boras);
  albas = await makeBelongings(service, alba, receiver, MARK_A);
  after = await readAll(bora, boras);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

/** These move with the clock alone. */
const MOVING = [
  'cursor',
  'since',
  'last_used_at',
  'checked_at',
  'latency_ms',
  'took_ms',
  'slack_ms',
  'waited_ms',
  'username',
  'credential',
];
const withoutTimes = (body: unknown) =>
  JSON.stringify(body, (name, value: unknown) => (MOVING.includes(name) ? undefined : value));

const answerTo = async (tenant: Tenant, endpoint: Endpoint, of: Belongings) =>
  send(service, tenant, endpoint, await EXAMPLES[endpoint.id]?.(of));

const READS = endpoints.filter((endpoint) => endpoint.method === 'get' && !isOfOperator(endpoint));

/** Reading these is in the log of whoever reads. */
const LOGGED = READS.filter(isAudited).map(({ id }) => id);

function withoutLogged(body: { data: { action: string }[]; meta: { total: number } }) {
  const data = body.data.filter(({ action }) => !LOGGED.includes(action));
  return { data, meta: { ...body.meta, total: body.meta.total - (body.data.length - data.length) } };
}

/** Every GET that tenants have, lists without a filter and things by their ids: address -> status and body. */
async function readAll(tenant: Tenant, of: Belongings): Promise<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const endpoint of READS) {
    const isList = parameterNames(endpoint).length === 0 && isOptional(endpoint.query);
    const { status, body } = isList ? await send(service, tenant, endpoint) : await answerTo(tenant, endpoint, of);
    read[endpoint.id] = `${status} ${withoutTimes(endpoint.id === 'audit-log.list' ? withoutLogged(body) : body)}`;
  }
  return read;
}

/** Rows of the asker's own workspace, also about what it named and has not: what it asked, and what it said it watches. */
const OF_THE_ASKER = /^public\.(audit_log|text_watches) /;
const recorded = async (): Promise<string[]> =>
  (await dumpRecords(service.runtime.db)).filter((row) => !OF_THE_ASKER.test(row));

/** A query that can be left out filters a list; one that cannot names a thing. */
const isOptional = (query: Endpoint['query']): boolean => query?.safeParse({}).success ?? true;

const takesSomething = ({ params, query, body, upload }: Endpoint) => Boolean(params ?? query ?? body ?? upload);
/** Whether its example names anything that a workspace owns. */
const naming: Endpoint[] = [];
for (const endpoint of endpoints) {
  const parts = await Promise.all([EXAMPLES[endpoint.id]?.(NOBODYS), EXAMPLES[endpoint.id]?.(otherThan(NOBODYS))]);
  if (JSON.stringify(parts[0]) !== JSON.stringify(parts[1])) naming.push(endpoint);
}

function otherThan(of: Belongings): Belongings {
  return Object.fromEntries(
    Object.entries(of).map(([name, id]) => [name, typeof id === 'number' ? id + 1 : `${id}x`]),
  ) as unknown as Belongings;
}

describe('examples', () => {
  // Guards against: an endpoint that is not tried with another workspace's ids. Add its line to
  // test/support/http/examples.ts.
  test.each(byId(endpoints.filter(takesSomething)))('%s has one', async (id, endpoint) => {
    expect(Object.keys(EXAMPLES)).toContain(id);
    const { params = {} } = await present(EXAMPLES[id])(NOBODYS);
    const other = (await present(EXAMPLES[id])(otherThan(NOBODYS))).params ?? {};
    if (SAME_FOR_ALL.includes(id)) return;
    // Each parameter of the path is an id that belongs to somebody.
    expect(
      parameterNames(endpoint).filter((name) => params[name] === undefined || params[name] === other[name]),
    ).toEqual([]);
  });

  // Guards against: example lines that no endpoint uses any more.
  test('are of endpoints that exist', () => {
    const ids = endpoints.map(({ id }) => id);
    expect(Object.keys(EXAMPLES).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('reading', () => {
  // Guards: no list, count, sum, log or page of a workspace changes by what happens in another.
  test.each(byId(READS))('%s shows nothing of another workspace', (id) => {
    expect(after[id]).toMatch(/^200 /);
    expect(after[id]).toBe(before[id]);
    for (const foreign of [MARK_A, 'alba', albas.runId, albas.deliveryId]) expect(after[id]).not.toContain(foreign);
    tried('reads beside another workspace');
  });

  // Guards: the test above can fail: it looks for values that alba can read of its own.
  test('shows what is its own', async () => {
    const own = Object.values(await readAll(alba, albas)).join('\n');
    for (const what of [
      'key',
      '-agent',
      'prompt',
      'description',
      'workspace',
      'voice',
      'webhook',
      'question',
      'content',
      'memory',
      'summary',
    ]) {
      expect(own).toMatch(new RegExp(`${MARK_A}${what.startsWith('-') ? '' : ' '}${what}`));
    }
    // Nor the other way round: alba came second, so that bora's things were there when alba's were made.
    for (const foreign of [MARK_B, boras.runId, boras.deliveryId]) expect(own).not.toContain(foreign);
    for (const id of [albas.runId, albas.deliveryId, `taken /hook/${MARK_A}`]) expect(own).toContain(id);
  });

  // Guards: a webhook announces its own workspace's runs only.
  test('webhooks tell of their own runs', () => {
    const heard = (mark: string) =>
      receiver.received.filter(({ path }) => path.endsWith(mark)).map(({ body }) => JSON.parse(body).data.run_id);
    expect(heard(MARK_B)).toEqual([boras.runId]);
    expect(heard(MARK_A)).toEqual([albas.runId]);
  });
});

describe("asking for what is another workspace's", () => {
  /** A number is no part of a longer one. */
  const wholly = (id: string) => (/^\d+$/.test(id) ? new RegExp(`\\b${id}\\b`, 'g') : id);
  const seen = ({ status, body }: Answer, of: Belongings) => {
    const named = JSON.stringify(Object.values(of)).slice(1, -1).split(',');
    // A reply may repeat the name it was asked for.
    return {
      status,
      body: named.reduce((text, id) => text.replaceAll(wholly(id.replaceAll('"', '')), '<id>'), JSON.stringify(body)),
    };
  };

  // Guards: another workspace's id is unknown wherever it is sent, and changes nothing.
  test.each(byId(naming))('%s answers as for an unknown one', async (id, endpoint) => {
    const rows = await recorded();
    const foreign = await answerTo(bora, endpoint, albas);
    const unknown = await answerTo(bora, endpoint, NOBODYS);
    const isFilter =
      id !== 'run-artifacts.list' &&
      endpoint.method === 'get' &&
      endpoint.query &&
      !endpoint.params &&
      (isOptional(endpoint.query) || id === 'search.find');
    expect(unknown.status).toBe(isFilter ? 200 : 404);
    const told = TELLING[id] ?? COUNTING[id];
    if (told) expect(foreign).toMatchObject(told);
    else expect(seen(foreign, albas)).toEqual(seen(unknown, NOBODYS));
    expect(await recorded()).toEqual(rows);
    tried('endpoints asked with a foreign id');
  });

  // Guards: names belong to a workspace: a name that another one has can be taken, and the answer does not reveal that.
  test('names of another workspace are free', async () => {
    const made = await bora.cp('POST', '/v1/agents', { slug: albas.agentSlug, model: 'auto', prompt: 'Of bora.' });
    expect(made).toMatchObject({
      status: 201,
      body: { slug: albas.agentSlug, owner_customer_id: 'bora', prompt: 'Of bora.' },
    });
    expect(await bora.cp('DELETE', `/v1/agents/${albas.agentSlug}?force=true`)).toMatchObject({ status: 204 });
    expect(await alba.cp('GET', `/v1/agents/${albas.agentSlug}/detail`)).toMatchObject({
      status: 200,
      // The one it was asked for, and the step of the project.
      body: { owner_customer_id: 'alba', prompt: `${MARK_A} prompt`, recent_runs: { total: 2 } },
    });
  });

  // Guards: threads of one name in two workspaces are two conversations: neither waits for the other or reads it.
  test("conversations are a workspace's own", async () => {
    const held = await alba.api('POST', '/v1/runs', { prompt: 'Wait. [[sleep:60000]]', thread_id: albas.threadId });
    const own = await bora.run({ agent: boras.agentSlug, prompt: 'What was said?', thread_id: albas.threadId });
    expect(own.status).toBe('succeeded');
    const { body } = await bora.cp('GET', `/v1/runs/${own.run_id}/context/content`);
    expect(body.content).toContain('What was said?');
    expect(JSON.stringify([body, own.output])).not.toContain(MARK_A);
    await alba.cp('POST', `/v1/runs/${held.body.run_id}/cancel`);

    const next = await alba.run({ agent: albas.agentSlug, prompt: 'What was said?', thread_id: albas.threadId });
    expect(JSON.stringify(next.output)).toContain(MARK_A);
  });

  // Guards: a tool call of a model reads its own workspace only.
  test("an agent cannot hand work to another workspace's agent", async () => {
    const outputs = [];
    for (const agent of [albas.agentSlug, NOBODYS.agentSlug]) {
      const call = `[[tool:spawn_run ${JSON.stringify({ agent, prompt: 'Tell what you know.' })}]]`;
      const { output } = await bora.run({ agent: boras.agentSlug, prompt: `Delegate. ${call}` });
      outputs.push(present(output).replaceAll(agent, '<agent>'));
    }
    expect(outputs[0]).toContain('there is no agent');
    expect(outputs[0]).toBe(outputs[1]);
  });
});

describe('links', () => {
  let hands: Hands;
  /** What one is answered that never was. */
  let unknown: string[] | undefined;
  const waitOf = async (tenant: Tenant, { waitId: id }: Belongings) => {
    const { status, body } = await tenant.cp('GET', `/v1/inbox/${id}`);
    expect(status).toBe(200);
    const revision: number = body.revision;
    return { id, revision };
  };
  beforeAll(async () => {
    const [wait, foreign] = [await waitOf(bora, boras), await waitOf(alba, albas)];
    hands = { service, owner: bora, wait, other: alba, foreign };
  });
  // Some wrong links are rows that the service never writes, which the check of the database would find.
  afterAll(async () => {
    await service.runtime.db.rows(sql`
      delete from action_links l using waits w where w.id = l.wait_id and w.customer_id <> l.customer_id`);
  });
  /** What an answer changes, and what a link is. Webhooks that are still on their way are neither. */
  const decided = async (): Promise<string[]> =>
    (await recorded()).filter((row) =>
      /^public\.(waits|wait_\w+|action_links|otp_\w+|projects|project_\w+|tasks|subtasks|workspace_members) /.test(row),
    );
  /** As mail programs and people ask, with a session of another workspace in hand. */
  async function asked(token: string) {
    const headers = { cookie: `service_session=${alba.session}` };
    const answers = [{ method: 'GET' }, { method: 'HEAD' }, { method: 'POST', body: 'answer=approve' }].map(
      async ({ method, body }) => {
        const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
        const init = { method, headers: { ...headers, ...type }, ...(body !== undefined && { body }) };
        const response = await fetch(service.baseUrl + ACT.replace('{token}', token), init);
        return `${response.status} ${(await response.text()).replaceAll(/nonce="[^"]+"/g, '')}`;
      },
    );
    return Promise.all(answers);
  }

  // Guards: a token that is altered, expired, withdrawn, of somebody who is not there any more or of another workspace is as one
  // that never was: to the byte, by whatever request, and nothing changes.
  test.each(Object.keys(WRONG_LINKS))('one %s is none', async (what) => {
    const token = await present(WRONG_LINKS[what])(hands);
    const rows = await decided();
    const [got, head, posted] = await asked(token);
    unknown ??= await asked(`${'x'.repeat(32)}.${'y'.repeat(43)}`);
    expect([got, head, posted]).toEqual(unknown);
    expect([got?.slice(0, 4), head]).toEqual(['404 ', '404 ']);
    expect(await decided()).toEqual(rows);
    tried('wrong links');
  });

  // Guards: one that has been used, or is of what there was before, is shown what became of it and answers nothing.
  test.each(Object.keys(SPENT_LINKS))('one %s answers nothing', async (what) => {
    const token = await present(SPENT_LINKS[what])(hands);
    const rows = await decided();
    const [got, , posted] = await asked(token);
    expect(got?.slice(0, 4)).toBe('200 ');
    expect(posted).toBe(got);
    expect(got).not.toContain('<form');
    expect(await decided()).toEqual(rows);
    tried('wrong links');
  });

  // Guards: the tests above can fail: the right one answers, for its recipient, whatever else comes with the request, and for its own
  // workspace alone.
  test('the right one answers', async () => {
    const ofAlba = async () => (await decided()).filter((row) => row.includes('"customer_id": "alba"'));
    const rows = await ofAlba();
    const [got, , posted] = await asked(await linkOf(hands, `${MARK_B}@members.example`));
    expect(got?.slice(0, 4)).toBe('200 ');
    expect(posted).toContain(`Thank you. Answered: approve, by ${MARK_B}@members.example`);
    expect((await waitOf(alba, albas)).revision).toBe(hands.foreign.revision);
    expect(await ofAlba()).toEqual(rows);
  });

  // Guards against: an address that takes a token and that nobody has tried with wrong ones.
  test('every address of a token is declared', async () => {
    const taking = (await elsewhere()).filter(({ credential }) => ['link', 'token'].includes(credential));
    const addresses = [...new Set(taking.map(({ address }) => present(address.split(' ')[1])))];
    expect(Object.keys(TOKEN_ADDRESSES).toSorted()).toEqual(addresses.toSorted());
    for (const { address, tests } of taking) {
      const where = TOKEN_ADDRESSES[present(address.split(' ')[1])];
      if (typeof where === 'string') expect(tests.map((name) => name.replace(/^test\//, ''))).toContain(where);
    }
  });
});

// Guards: the examples name things that exist: each is carried out. This test is last because some of them delete.
describe('asking for what is its own', () => {
  const depth = ({ id, method, path }: Endpoint) =>
    id === 'workspaces.destroy' ? 100 : method === 'delete' ? 100 - path.split('/').length : 0;
  test.each(byId([...naming].sort((a, b) => depth(a) - depth(b))))('%s is answered', async (_id, endpoint) => {
    const { status, body } = await sendConfirmed(service, alba, endpoint, await EXAMPLES[endpoint.id]?.(albas));
    // 409: it is there, in a state in which this cannot be done to it.
    expect([endpoint.status, 409]).toContain(status);
    const isFiltered = endpoint.query && !endpoint.params;
    if (isFiltered) expect(isStreamReply(endpoint.reply) ? body.slice(1, -1) : body.data).not.toEqual([]);
  });
});
