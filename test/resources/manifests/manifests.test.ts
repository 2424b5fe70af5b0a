/** Manifests over HTTP: what is planned, what is written, and that it is all of it or nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { untilWaiting } from '../../support/database/locks.ts';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let made = 0;

beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(async () => service?.close());
beforeEach(async () => {
  made += 1;
  tenant = await service.tenant(`acc_manifests_${made}`);
});

const agent = (slug: string, more: object = {}) => ({
  kind: 'agent',
  file: `agents/${slug}.yaml`,
  content: { slug, prompt: `You are ${slug}.`, ...more },
});
const plan = (manifests: object[], more: object = {}) =>
  tenant.cp('POST', '/v1/manifests/plan', { manifests, ...more });
const apply = (manifests: object[], more: object = {}) =>
  tenant.cp('POST', '/v1/manifests/apply', { manifests, ...more });
const deployed = async () => (await tenant.cp('GET', '/v1/manifests/deployed')).body.data;
const customAgents = async () => {
  const { body } = await tenant.cp('GET', '/v1/manifests');
  return body.data.filter(({ kind }: { kind: string }) => kind === 'agent').map(({ name }: { name: string }) => name);
};

describe('applying', () => {
  // Guards: what fails in the middle leaves nothing of what came before it.
  test('is all or nothing', async () => {
    tenant = await service.tenant('acc_manifests_free', 'free');
    const many = Array.from({ length: 60 }, (_, at) => agent(`agent-${at}`));
    expect((await plan(many)).body.changes).toHaveLength(60);
    expect(await apply(many)).toMatchObject({ status: 403, body: { detail: { code: 'plan_limit_exceeded' } } });
    expect(await customAgents()).toEqual([]);
    expect((await apply(many.slice(0, 2))).status).toBe(200);
    expect(await customAgents()).toEqual(['agent-0', 'agent-1']);
    expect(await deployed()).toMatchObject([{ name: 'agent-0', state: 'as_applied' }, { name: 'agent-1' }]);
  });

  // Guards: two pipelines at once bring the workspace to one of the two states, and neither fails half-way.
  test('at once by two is applied one after the other', async () => {
    const { db } = service.runtime;
    const { customerId } = tenant.caller;
    const both: ReturnType<typeof apply>[] = [];
    await db.transaction(async () => {
      await db.rows(sql`select from workspaces where customer_id = ${customerId} for update`);
      for (const description of ['One', 'Two']) {
        both.push(apply([agent('both', { description }), agent('other', { description })]));
      }
      // Both have planned, and wait to write.
      await untilWaiting(db, 2);
    });
    const answers = await Promise.all(both);
    // Whoever comes second finds another state than it has planned for.
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.detail).toMatch(/^somebody has changed/);
    const { body } = await tenant.cp('GET', '/v1/manifests');
    const described = body.data.map(({ content }: { content: { description: string } }) => content.description);
    expect(new Set(described).size).toBe(1);
  });

  // Guards: who mends files is told everything at once: what cannot be read, and what is named by files that can.
  test('tells what is missing beside what is wrong', async () => {
    const { status, body } = await plan([
      agent('lost', { allowed_tools: ['nowhere', 'calculator'] }),
      agent('wrong', { model: 1 }),
      { kind: 'skill', content: { slug: 'known', name: 'Known', agents: ['wrong', 'absent'] } },
    ]);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc.slice(2).join('.')).sort()).toEqual([
      '0.content.allowed_tools.0',
      '1.content.model',
      '2.content.agents.1',
    ]);
  });

  // Guards: what another workspace has is not there, neither to be named nor to be changed.
  test('knows its own workspace alone', async () => {
    const other = await service.tenant('acc_manifests_other');
    const tool = {
      slug: 'theirs',
      description: 'Theirs',
      kind: 'stub',
      schema: { type: 'object' },
      body: { result: 1 },
    };
    expect((await other.cp('POST', '/v1/tools', tool)).status).toBe(201);
    expect((await other.cp('POST', '/v1/agents', { ...agent('shared').content, model: 'auto' })).status).toBe(201);
    expect(await apply([agent('mine', { allowed_tools: ['theirs'] })])).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ['body', 'manifests', 0, 'content', 'allowed_tools', 0], msg: 'there is no tool "theirs"' }],
      },
    });
    expect((await plan([agent('shared')])).body.changes).toMatchObject([{ action: 'create', fields: [] }]);
  });
});

// Guards: where bodies of skills are for admins alone, neither an export nor a plan shows them to anybody else.
test('bodies of skills are shown to those who may read them', async () => {
  const open = await startTestService({ worker: false, env: { PUBLIC_VISIBILITY: 'true' } });
  try {
    const owner = await open.tenant('acc_manifests_public');
    const skill = (body: string) => ({
      manifests: [{ kind: 'skill', content: { slug: 'style', name: 'Style', body } }],
    });
    await owner.cp('POST', '/v1/manifests/apply', skill('Hidden from members.'));
    expect((await owner.cp('GET', '/v1/manifests')).body.data).toMatchObject([
      { content: { body: 'Hidden from members.' } },
    ]);
    const cookie = `service_session=${sessionFor(owner.caller, 'member')}`;
    const as = (method: string, path: string, body?: unknown) =>
      call(`${open.baseUrl}/api/v1/cp/v1/manifests${path}`, method, { cookie }, body);
    expect((await as('GET', '')).body.data).toEqual([]);
    const planned = await as('POST', '/plan', skill('Other.'));
    expect(planned.body.changes).toMatchObject([{ fields: [{ path: 'body', before: '***', after: 'Other.' }] }]);
  } finally {
    await open.close();
  }
});

describe('pruning', () => {
  // Guards: what one repository brought is not deleted by another one, and what is taken over is no longer the first one's.
  test('is of one source', async () => {
    await apply([agent('one'), agent('two')], { source: 'a' });
    expect((await plan([agent('three')], { source: 'b', prune: true })).body).toMatchObject({
      changes: [{ action: 'create', name: 'three' }],
      left: [],
    });
    expect((await plan([agent('two')], { source: 'b', prune: true })).body).toMatchObject({
      changes: [],
      taken_over: 1,
    });
    await apply([agent('two')], { source: 'b', prune: true });
    await apply([agent('other')], { source: 'a', prune: true });
    expect((await customAgents()).sort()).toEqual(['other', 'two']);
  });

  // Guards against: deleting what people made, because a file named it for a while: before, or since it was deleted.
  test('leaves what was made by hand', async () => {
    const byHand = async (slug: string) =>
      expect((await tenant.cp('POST', '/v1/agents', { ...agent(slug).content, model: 'auto' })).status).toBe(201);
    await byHand('before');
    await byHand('changed');
    await apply([agent('made'), agent('again'), agent('before'), agent('changed', { description: 'By a file' })]);
    expect((await tenant.cp('DELETE', '/v1/agents/again?force=true')).status).toBe(204);
    await byHand('again');
    await apply([agent('made'), agent('again'), agent('before'), agent('changed', { description: 'By a file' })]);
    expect((await plan([agent('made')], { prune: false })).body.left).toHaveLength(3);
    const { body } = await plan([], { prune: true });
    expect(body.changes).toMatchObject([{ action: 'delete', name: 'made' }]);
    const theirs = ['again', 'before', 'changed'];
    expect(body.left).toMatchObject(theirs.map((name) => ({ name, made_by_hand: true })));
    await apply([], { prune: true });
    expect((await customAgents()).sort()).toEqual(theirs);
    // They are nobody's file any more.
    expect(await deployed()).toEqual([]);
  });

  // Guards: nothing goes where something of the same request fails.
  test('is undone with the rest', async () => {
    tenant = await service.tenant('acc_manifests_pruned', 'free');
    await apply([agent('one')]);
    const many = Array.from({ length: 10 }, (_, at) => agent(`agent-${at}`));
    expect((await apply(many, { prune: true })).status).toBe(403);
    expect(await customAgents()).toEqual(['one']);
    expect(await deployed()).toMatchObject([{ name: 'one', state: 'as_applied' }]);
  });
});

describe('a secret', () => {
  const caller = (authorization: unknown) => ({
    kind: 'tool',
    content: {
      slug: 'caller',
      description: 'Calls',
      kind: 'webhook',
      body: { url: 'https://example.com/hook', headers: { Authorization: authorization, Accept: 'text/plain' } },
    },
  });
  const named = caller({ env: 'HOOK_TOKEN' });

  // Guards: a file names a secret by a variable. It is stored and compared, and no answer has it.
  test('comes from the environment, and goes nowhere', async () => {
    expect(await apply([caller('Bearer 0123456789abcdef')])).toMatchObject({
      status: 422,
      body: { detail: [{ msg: expect.stringContaining('does not belong in a file') }] },
    });
    expect(await plan([named])).toMatchObject({
      status: 422,
      body: { detail: [{ msg: 'the environment has no HOOK_TOKEN, and the workspace no value yet' }] },
    });
    const first = { secrets: { HOOK_TOKEN: 'Bearer first-secret-0123' } };
    expect((await apply([named], first)).status).toBe(200);
    expect((await plan([named], first)).body).toMatchObject({ changes: [], unchanged: 1 });
    // Who has no secrets, such as a pipeline of a pull request, plans all the same.
    expect((await plan([named])).body).toMatchObject({ changes: [], unchanged: 1 });
    const second = await plan([named], { secrets: { HOOK_TOKEN: 'Bearer second-secret-0123' } });
    expect(second.body.changes).toMatchObject([
      { fields: [{ path: 'body.headers.Authorization', before: '***', after: '*** (another)' }] },
    ]);
    const exported = await tenant.cp('GET', '/v1/manifests');
    expect(exported.body.data[0].content.body.headers).toEqual({
      Authorization: { env: 'CALLER_HEADERS_AUTHORIZATION' },
      Accept: 'text/plain',
    });
    expect(JSON.stringify([second.body, exported.body])).not.toMatch(/first-secret|second-secret/);
  });
});
