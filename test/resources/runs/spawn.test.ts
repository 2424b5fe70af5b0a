import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { startBarrier, type Barrier } from '../../support/fakes/barrier.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, childOf, childrenOf, rowOf, tool, typesOf, untilStatus } from '../../support/fixtures/runs.ts';

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

const spawn = (agent: string, prompt: string, wait?: boolean) =>
  tool('spawn_run', { agent, prompt, ...(wait === undefined ? {} : { wait }) });

// Guards: a waiting parent gets its child's answer, and both show the relation.
test('a run waits for the run it spawned', async () => {
  const parent = await acme.run({
    agent: 'assistant',
    transport: 'slack',
    prompt: `Delegate ${spawn('writer', 'A line about rivers')}`,
  });
  expect(parent).toMatchObject({ status: 'succeeded', output: expect.stringContaining('A line about rivers') });
  const [childId] = await childrenOf(acme, parent.run_id);
  const { body: child } = await acme.cp('GET', `/v1/runs/${childId}/detail`);
  expect(child).toMatchObject({
    agent: 'writer',
    transport: 'slack',
    status: 'succeeded',
    parent_run_id: parent.run_id,
    customer_id: 'acme',
    output: expect.stringContaining('A line about rivers'),
  });
  expect((await rowOf(acme, present(childId))).parent_run_id).toBe(parent.run_id);
  expect((await typesOf(acme, parent.run_id)).slice(4)).toEqual([
    ...['claude_iteration', 'tool_call', 'agent_run_started', 'tool_result'],
    ...['claude_iteration', 'run_completed'],
  ]);
});

// Guards: wait=false returns the id alone, and the child outlives its parent.
test('a run need not wait', async () => {
  const parent = await acme.run({
    agent: 'assistant',
    prompt: `Hand over ${spawn('assistant', tool('http_request', { url: barrier.url('later') }), false)}`,
  });
  expect(parent.status).toBe('succeeded');
  const [childId] = await childrenOf(acme, parent.run_id);
  expect(parent.output).toContain(childId);
  await barrier.waiting('later', 1);
  await untilStatus(acme, present(childId), 'running');
  barrier.open('later');
  expect(await acme.waitForRun(present(childId))).toMatchObject({ status: 'succeeded' });
});

// Guards: the children of one turn work side by side; a child's failure is its own, and an answer to the parent.
test('children work side by side, and a failed one is a result', async () => {
  const fetching = (part: number) =>
    spawn('assistant', tool('http_request', { url: `${barrier.url('pair', 2)}&part=${part}` }));
  const parent = await acme.run({
    agent: 'assistant',
    prompt: [fetching(1), fetching(2), spawn('writer', '[[fail-status:400]]'), spawn('nobody', 'hello')].join(' '),
  });
  expect(parent.status).toBe('succeeded');
  expect(parent.output).toContain('model_refused_request');
  expect(parent.output).toContain('there is no agent');
  const children = await Promise.all((await childrenOf(acme, parent.run_id)).map((id) => acme.waitForRun(id)));
  expect(children.map(({ status }) => status).sort()).toEqual(['failed', 'succeeded', 'succeeded']);
});

// Guards: an agent that spawns itself ends: five levels below the first run are allowed, and the sixth is refused.
test('runs are nested five deep', async () => {
  const nested = (levels: number): string =>
    levels === 0 ? 'The bottom' : `Level ${levels} ${spawn('assistant', nested(levels - 1))}`;
  let run = await acme.run({ agent: 'assistant', prompt: nested(6) });
  let depth = 0;
  for (let [childId] = await childrenOf(acme, run.run_id); childId; [childId] = await childrenOf(acme, run.run_id)) {
    run = await acme.waitForRun(childId);
    depth += 1;
  }
  expect(depth).toBe(5);
  expect(run).toMatchObject({ status: 'succeeded', output: expect.stringContaining('nested 5 deep') });
});

// Guards: cancelling a run cancels the runs that it waits for, at every level, with one end each.
test('a cancelled run takes its children along', async () => {
  const innermost = spawn('assistant', '[[sleep:60000]]');
  const parentId = await dispatch(acme, { agent: 'assistant', prompt: spawn('assistant', innermost) });
  const childId = await childOf(acme, parentId);
  const grandchildId = await childOf(acme, childId);
  await untilStatus(acme, grandchildId, 'running');
  expect(await acme.cp('POST', `/v1/runs/${parentId}/cancel`)).toMatchObject({
    status: 200,
    body: { run_id: parentId, status: 'cancelled' },
  });
  for (const id of [grandchildId, childId, parentId]) {
    await untilStatus(acme, id, 'cancelled');
    expect((await typesOf(acme, id)).at(-1)).toBe('run_cancelled');
  }
});

// Guards: a child that a person cancels is a result for its parent, which goes on.
test('a cancelled child does not end its parent', async () => {
  const parentId = await dispatch(acme, { agent: 'assistant', prompt: spawn('writer', '[[sleep:60000]]') });
  const childId = await childOf(acme, parentId);
  await untilStatus(acme, childId, 'running');
  expect((await acme.cp('POST', `/v1/runs/${childId}/cancel`)).body.status).toBe('cancelled');
  expect(await acme.waitForRun(parentId)).toMatchObject({
    status: 'succeeded',
    output: expect.stringContaining('cancelled'),
  });
});
