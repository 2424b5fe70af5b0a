import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { startBarrier, type Barrier } from '../../support/fakes/barrier.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, endsOf, tool, typesOf, untilStatus } from '../../support/fixtures/runs.ts';

let barrier: Barrier;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  barrier = await startBarrier();
  service = await startTestService({ env: { EGRESS_ALLOWLIST: barrier.hostAndPort } });
  acme = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await barrier?.close();
});

const agent = 'assistant';
const fetching = (name: string, of?: number) => tool('http_request', { url: barrier.url(name, of) });

interface Times {
  started_at: string;
  completed_at: string;
}

async function expectInOrder(runIds: string[]): Promise<void> {
  const times: Times[] = [];
  for (const id of runIds) times.push((await acme.cp('GET', `/v1/runs/${id}/detail`)).body);
  for (const [i, { started_at }] of times.entries()) {
    if (i > 0) expect(Date.parse(started_at)).toBeGreaterThanOrEqual(Date.parse(itemAt(times, i - 1).completed_at));
  }
}

// Guards: runs of one conversation go one at a time, in the order of acceptance, each seeing the ones before.
test.each(['thread_id', 'channel_id'])('runs of one %s follow each other', async (field) => {
  const talk = (prompt: string) => dispatch(acme, { agent, prompt, [field]: 'talk' });
  const first = await talk(`My name is Ada ${fetching(`first-${field}`)}`);
  const second = await talk('What did I say');
  const third = await talk('And what then');
  await barrier.waiting(`first-${field}`, 1);
  for (const waiting of [second, third]) expect(await typesOf(acme, waiting)).toEqual(['run_received']);
  barrier.open(`first-${field}`);
  const ends = [];
  for (const id of [first, second, third]) ends.push(await acme.waitForRun(id));
  expect(ends.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  await expectInOrder([first, second, third]);
  const heard = ends.map(({ output }) => present(output).split('## Earlier in this conversation')[1] ?? '');
  expect(heard[0]).toBe('');
  expect(heard[1]).toContain('My name is Ada');
  expect(heard[2]).toMatch(/My name is Ada[^]*What did I say/);
});

// Guards: the number that decides the order is assigned under a lock, so that runs accepted at the same time still go
// one by one.
test('runs accepted at once go one by one', async () => {
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, i) => dispatch(acme, { agent, prompt: `Part ${i}`, thread_id: 'crowd' })),
  );
  await Promise.all(ids.map((id) => acme.waitForRun(id)));
  const { body } = await acme.cp('GET', '/v1/runs?limit=500');
  const listed: string[] = body.data.map(({ run_id }: { run_id: string }) => run_id);
  const accepted = listed.filter((id) => ids.includes(id)).reverse();
  expect(accepted).toHaveLength(6);
  await expectInOrder(accepted);
});

// Guards: conversations do not wait for each other: other threads, a channel of the same name, another workspace.
test('conversations go side by side', async () => {
  const beta = await service.tenant('acc_beta');
  const prompt = fetching('together', 4);
  const runs = await Promise.all([
    acme.run({ agent, prompt, thread_id: 'one' }),
    acme.run({ agent, prompt, thread_id: 'two' }),
    acme.run({ agent, prompt, channel_id: 'one' }),
    beta.run({ agent, prompt, thread_id: 'one' }),
  ]);
  expect(runs.map(({ status }) => status)).toEqual(Array(4).fill('succeeded'));
  // Nor do they hear each other.
  const next = await beta.run({ agent, prompt: 'Anything from the others?', channel_id: 'one' });
  expect(next.output).not.toContain('Earlier in this conversation');
});

// Guards: a cancelled run, at work or waiting, lets the next one start, which is told what was said and never answered.
test('cancelled runs let the next one go', async () => {
  const say = (prompt: string) => dispatch(acme, { agent, prompt, thread_id: 'rough' });
  const working = await say(`Broken off ${fetching('rough')}`);
  const sleeping = await say('Sleepy [[sleep:60000]]');
  const waiting = await say('Given up');
  const last = await say('Still there?');
  await barrier.waiting('rough', 1);
  expect((await acme.cp('POST', `/v1/runs/${waiting}/cancel`)).body).toEqual({ run_id: waiting, status: 'cancelled' });
  expect(await typesOf(acme, waiting)).toEqual(['run_received', 'run_cancelled']);
  expect(await typesOf(acme, sleeping)).toEqual(['run_received']);
  expect((await acme.cp('POST', `/v1/runs/${working}/cancel`)).body.status).toBe('cancelled');
  barrier.open('rough');
  await untilStatus(acme, sleeping, 'running');
  expect(await typesOf(acme, last)).toEqual(['run_received']);
  await acme.cp('POST', `/v1/runs/${sleeping}/cancel`);
  const end = await acme.waitForRun(last);
  expect(end).toMatchObject({ status: 'succeeded', output: expect.stringMatching(/Broken off[^]*Sleepy[^]*Given up/) });
  for (const id of [working, sleeping, waiting, last]) expect(endsOf(await typesOf(acme, id))).toHaveLength(1);
});

// Guards: the error of an earlier run is not shown to the next one as an answer; what the user said is.
test('of a run that failed the conversation has what the user said, and no more', async () => {
  const failed = await acme.run({ agent, prompt: 'Hopeless [[fail-status:400]]', thread_id: 'fresh' });
  const { output } = await acme.run({ agent, prompt: 'Next', thread_id: 'fresh' });
  expect(output).toContain('Hopeless');
  expect(output).not.toContain(failed.error);
});

// Guards: the context of a run shows what its model was sent, including earlier turns of the conversation.
test('the context of a run holds the earlier turns', async () => {
  await acme.run({ agent, prompt: 'The password is swordfish', thread_id: 'secret' });
  const { run_id } = await acme.run({ agent, prompt: 'What was it?', thread_id: 'secret' });
  const { body } = await acme.cp('GET', `/v1/runs/${run_id}/context/content`);
  expect(body.content).toMatch(/swordfish[^]*What was it\?/);
  const { body: context } = await acme.cp('GET', `/v1/runs/${run_id}/context`);
  const messages = context.categories.find(({ category }: { category: string }) => category === 'messages');
  expect(messages.bytes).toBeGreaterThan('The password is swordfish What was it?'.length);
});
