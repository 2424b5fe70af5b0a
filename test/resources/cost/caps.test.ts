/** The model costs nothing for input and one cent a token of output, of which a reply may have a hundred: a dollar. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { answer, callTools, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { type Tenant, type TestService } from '../../support/service/service.ts';
import { CALL_COST, startPricedService } from '../../support/service/priced.ts';

let provider: OpenAiServer;
let close: () => Promise<void>;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  ({ service, provider, close } = await startPricedService());
});
let tenants = 0;
beforeEach(async () => {
  provider.reset();
  provider.otherwise(answer('Here.'));
  acme = await service.tenant(`acc_capped${++tenants}`);
});
afterAll(() => close?.());

const cap = (id: string, limit_usd: string | number) => acme.cp('PUT', `/v1/cost/caps/${id}`, { limit_usd });
const capsNow = async () => {
  const { body } = await acme.cp('GET', '/v1/cost/caps');
  return Object.fromEntries(
    body.data.map(({ id, ...row }: { id: string; limit_usd: string; spent_usd: string; reserved_usd: string }) => [
      id,
      [row.spent_usd, row.limit_usd, row.reserved_usd],
    ]),
  );
};
const work = (agent: string | null = 'assistant') => acme.run({ agent, prompt: 'Say something.' });
/** With the session of a person, and so with no key. */
async function byHand() {
  const { body } = await acme.cp('POST', '/v1/runs', { agent: 'assistant', prompt: 'Say something.' });
  return acme.waitForRun(body.run_id);
}
const refusedBy = (id: string) => ({
  status: 'failed',
  error: expect.stringContaining(`raise it with \`aos costs cap ${id} <usd>\` or PUT /v1/cost/caps/${id}`),
});

// Guards: a workspace does not exceed its cap by month or by day, is told what to do, and goes on once it is raised.
test.each(['workspace.month', 'workspace.day'])('%s', async (id) => {
  expect(await cap(id, '1.02')).toMatchObject({ status: 200, body: { id, scope: 'workspace', of: null, burn: 0 } });
  expect(await work()).toMatchObject({ status: 'succeeded' });
  expect(await work()).toMatchObject(refusedBy(id));
  expect(provider.requests).toHaveLength(1);
  expect(await capsNow()).toEqual({ [id]: [CALL_COST, '1.02', '0'] });
  await cap(id, 2);
  expect(await work()).toMatchObject({ status: 'succeeded' });
  expect(await capsNow()).toEqual({ [id]: ['0.06', '2', '0'] });
  expect((await acme.cp('DELETE', `/v1/cost/caps/${id}`)).status).toBe(204);
  expect((await acme.cp('DELETE', `/v1/cost/caps/${id}`)).status).toBe(404);
  expect(await capsNow()).toEqual({});
});

// Guards: a cap of an agent holds what that agent spends, also where nobody named it, and nothing else.
test('an agent', async () => {
  await cap('agent.assistant.month', '0.5');
  expect(await work('assistant')).toMatchObject(refusedBy('agent.assistant.month'));
  expect(await work('writer')).toMatchObject({ status: 'succeeded' });
  const picked = await acme.run({ prompt: 'xyzzy' });
  expect(picked.status).toBe(picked.agent === 'assistant' ? 'failed' : 'succeeded');
  expect(await capsNow()).toEqual({ 'agent.assistant.month': ['0', '0.5', '0'] });
});

// Guards: a cap of a key holds what was asked for with it, and what that spawned; others of the workspace are free of it.
test('an API key', async () => {
  const [{ id: keyId }] = (await acme.cp('GET', '/v1/api-keys')).body.data;
  const id = `api-key.${keyId}.day`;
  await cap(id, '1.1');
  provider.script(
    callTools({ id: 'spawn', name: 'spawn_run', arguments: { agent: 'writer', prompt: 'A part' } }),
    answer('A part.'),
    answer('Done.'),
  );
  expect(await work()).toMatchObject({ status: 'succeeded' });
  expect(await capsNow()).toEqual({ [id]: ['0.09', '1.1', '0'] });
  await cap(id, '1.08');
  expect(await work()).toMatchObject(refusedBy(id));
  expect(await byHand()).toMatchObject({ status: 'succeeded' });
  expect(await capsNow()).toEqual({ [id]: ['0.09', '1.08', '0'] });
});

// Guards: a cap that is set in the middle of a period counts what is spent in it already.
test('a cap begins with what is spent', async () => {
  await work('assistant');
  await work('writer');
  await cap('workspace.month', 5);
  await cap('agent.writer.day', 5);
  const [{ id: keyId }] = (await acme.cp('GET', '/v1/api-keys')).body.data;
  await cap(`api-key.${keyId}.month`, 5);
  expect(await capsNow()).toEqual({
    'workspace.month': ['0.06', '5', '0'],
    'agent.writer.day': ['0.03', '5', '0'],
    [`api-key.${keyId}.month`]: ['0.06', '5', '0'],
  });
});

// Guards: with a new period spending begins anew, without anybody having to turn it over.
test('a period ends', async () => {
  await cap('workspace.month', '1.01');
  await work();
  expect(await work()).toMatchObject(refusedBy('workspace.month'));
  const { customerId } = acme.caller;
  await service.runtime.db.rows(sql`
    update budgets set period_start = period_start - interval '1 month' where customer_id = ${customerId}
    and period is not null`);
  expect(await capsNow()).toEqual({ 'workspace.month': ['0', '1.01', '0'] });
  expect(await work()).toMatchObject({ status: 'succeeded' });
  expect(await capsNow()).toEqual({ 'workspace.month': [CALL_COST, '1.01', '0'] });
});

// Guards: calls at the same time do not exceed a cap together.
test('six at once', async () => {
  const held: (() => void)[] = [];
  provider.otherwise((response, request) => void held.push(() => answer('Here.')(response, request)));
  await cap('workspace.day', '3.5');
  const runs = Array.from({ length: 6 }, () => work());
  await provider.received(3);
  const failed = runs.map((run) => run.then(({ status }) => status));
  // Three of them end while the calls of the others are under way.
  let ended = 0;
  await new Promise<void>((done) => {
    for (const each of failed) void each.then(() => ++ended === 3 && done());
  });
  expect(await capsNow()).toEqual({ 'workspace.day': ['0', '3.5', '3'] });
  for (const release of held) release();
  expect((await Promise.all(failed)).sort()).toEqual([...Array(3).fill('failed'), ...Array(3).fill('succeeded')]);
  expect(await capsNow()).toEqual({ 'workspace.day': ['0.09', '3.5', '0'] });
});

/** Replies that wait until the test lets them go. */
function holdReplies(): () => void {
  const held: (() => void)[] = [];
  provider.otherwise((response, request) => void held.push(() => answer('Here.')(response, request)));
  return () => held.splice(0).forEach((release) => release());
}

// Guards: a cap counts what is under way when it is set, in what it holds and, at its end, in what is spent. Nothing had
// limited the call before.
test.each(['workspace.month', 'workspace.day', 'agent.assistant.month', 'api-key.day'])(
  '%s is set while a call is under way',
  async (which) => {
    const [{ id: keyId }] = (await acme.cp('GET', '/v1/api-keys')).body.data;
    const id = which.replace('api-key', `api-key.${keyId}`);
    const release = holdReplies();
    const run = work();
    await provider.received(1);
    await cap(id, '1.5');
    expect(await capsNow()).toEqual({ [id]: ['0', '1.5', '1'] });
    expect(await work()).toMatchObject(refusedBy(id));
    expect(provider.requests).toHaveLength(1);
    await cap(id, '2');
    const second = work();
    await provider.received(2);
    await cap(id, '1.9');
    expect(await capsNow()).toEqual({ [id]: ['0', '1.9', '2'] });
    release();
    expect([await run, await second]).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(await capsNow()).toEqual({ [id]: ['0.06', '1.9', '0'] });
  },
);

// Guards: the call of an agent is not held against the cap of another.
test('a cap of another agent is set while a call is under way', async () => {
  const release = holdReplies();
  const run = work('writer');
  await provider.received(1);
  await cap('agent.assistant.month', '1.5');
  expect(await capsNow()).toEqual({ 'agent.assistant.month': ['0', '1.5', '0'] });
  release();
  await run;
  expect(await capsNow()).toEqual({ 'agent.assistant.month': ['0', '1.5', '0'] });
});

// Guards against: a call that began just as its cap was set and was counted neither as held nor as spent. Whatever the
// order is, the cap knows of all six calls.
test('calls begin while a cap is set', async () => {
  const release = holdReplies();
  const runs = Array.from({ length: 6 }, () => work());
  await Promise.all([provider.received(3), cap('workspace.month', '50')]);
  await provider.received(6);
  expect(await capsNow()).toEqual({ 'workspace.month': ['0', '50', '6'] });
  release();
  await Promise.all(runs);
  expect(await capsNow()).toEqual({ 'workspace.month': ['0.18', '50', '0'] });
});

// Guards: what a call held of a cap is given back once, also where the cap was taken away and set again meanwhile.
test('a cap goes and comes while a call is under way', async () => {
  const held: (() => void)[] = [];
  provider.otherwise((response, request) => void held.push(() => answer('Here.')(response, request)));
  await cap('workspace.day', '3.5');
  const run = work();
  await provider.received(1);
  expect((await acme.cp('DELETE', '/v1/cost/caps/workspace.day')).status).toBe(204);
  expect(await capsNow()).toEqual({});
  await cap('workspace.day', '3.5');
  expect(await capsNow()).toEqual({ 'workspace.day': ['0', '3.5', '1'] });
  for (const release of held) release();
  expect(await run).toMatchObject({ status: 'succeeded' });
  expect(await capsNow()).toEqual({ 'workspace.day': [CALL_COST, '3.5', '0'] });
});

// Guards: what is spent while a cap is away counts when it is set again in the same period.
test('a cap that was taken away', async () => {
  await cap('workspace.month', '3.5');
  await work();
  await acme.cp('DELETE', '/v1/cost/caps/workspace.month');
  await work();
  await cap('workspace.month', '4');
  expect(await capsNow()).toEqual({ 'workspace.month': ['0.06', '4', '0'] });
});

// Guards: a cap that could never hold anything is not set.
test.each([
  ['agent.nobody.month', 404],
  ['api-key.999999999.day', 404],
  ['workspace.year', 422],
  ['workspace.acme.month', 422],
  ['agent.month', 422],
])('%s is %i', async (id, status) => {
  expect((await cap(id, '1')).status).toBe(status);
  expect(await capsNow()).toEqual({});
});
