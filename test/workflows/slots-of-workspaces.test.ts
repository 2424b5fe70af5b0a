/** Calls that stay open hold a slot of the worker: here it has eight, and one workspace gets four of them. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBarrier, type Barrier } from '../support/fakes/barrier.ts';
import { answer, hang, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { actionStep, agentStep, command, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { dispatch, tool } from '../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const SHARE = 4;

let provider: OpenAiServer;
let barrier: Barrier;
let service: TestService;
let acme: Tenant;
let beta: Tenant;
beforeAll(async () => {
  [provider, barrier] = [await startOpenAiServer(), await startBarrier()];
  service = await startTestService({
    env: {
      WORKER_MAX_CONCURRENT: String(2 * SHARE),
      HOUSEKEEPING_INTERVAL: '10m',
      EGRESS_ALLOWLIST: barrier.hostAndPort,
      // The limit of a host is above the share of the worker, and no delivery of the test is over before its end.
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_TIMEOUT: '10m',
      DELIVERIES_PER_HOST: '100',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    },
  });
  [acme, beta] = [await service.tenant('acc_acme'), await service.tenant('acc_beta')];
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await barrier?.close();
});

const scripted = { agent: 'assistant', prompt: 'Go on.', override: { model_override: 'scripted' } };
const offline = (prompt: string) => ({ agent: 'assistant', prompt, override: { model_override: 'offline' } });

// Guards: calls of one workspace that stay open leave a slot of the worker to the others, however many there are.
test.each([
  ['model', () => scripted, () => provider.received(SHARE)],
  ['tool', () => offline(tool('http_request', { url: barrier.url('slow') })), () => barrier.waiting('slow', SHARE)],
])('slow %s calls of one workspace hold up no run of another', async (what, body, begun) => {
  provider.reset();
  provider.otherwise(hang());
  const many = await Promise.all(Array.from({ length: 5 * SHARE }, () => dispatch(acme, body())));
  await begun();
  expect(await beta.run(offline(tool('calculator', { expression: '1 + 1' })))).toMatchObject({ status: 'succeeded' });
  if (what === 'model') expect(provider.requests).toHaveLength(SHARE);
  for (const id of many) expect(await acme.cp('POST', `/v1/runs/${id}/cancel`)).toMatchObject({ status: 200 });
  for (const id of many) expect(await acme.waitForRun(id)).toMatchObject({ status: 'cancelled' });
});

/** Whichever comes first: more open requests than the share of their workspace, or the end of another one's run. */
const outcomeOf = (name: string) =>
  Promise.race([
    barrier.waiting(name, SHARE + 1).then(() => 'more than its share'),
    beta.run(offline(tool('calculator', { expression: '1 + 1' }))).then(({ status }) => status),
  ]);

// Guards: the same for actions of projects, which have no run.
test('slow actions of one workspace leave slots to others', async () => {
  provider.reset();
  provider.otherwise(answer('The text.'));
  await makeTemplate(acme, 'posting', [
    phaseSpec('text', [
      agentStep('write'),
      actionStep('send', 'http_post', { depends_on: ['write'], max_attempts: 1 }),
    ]),
  ]);
  const params = { publish_url: barrier.url('publish') };
  const ids = await Promise.all(Array.from({ length: 3 * SHARE }, () => startProject(acme, 'posting', { params })));
  await barrier.waiting('publish', SHARE);
  expect(await outcomeOf('publish')).toBe('succeeded');
  for (const id of ids) expect((await command(acme, id, 'abandon')).status).toBe(200);
  barrier.open('publish');
});

// Guards: runs that gave their slots back are all done, each when another one of their workspace has ended.
test('runs beyond the share of a workspace follow', async () => {
  provider.reset();
  provider.otherwise(answer('Done.'));
  const ids = await Promise.all(Array.from({ length: 5 * SHARE }, () => dispatch(acme, scripted)));
  for (const id of ids) expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
  expect(provider.requests).toHaveLength(5 * SHARE);
});

// Guards: deliveries to a receiver that is slow to answer leave slots to others, and those that gave theirs back follow.
test('slow deliveries of one workspace leave slots to others', async () => {
  // Each endpoint is sent the end of one run.
  const url = barrier.url('hook');
  for (let made = 0; made < 3 * SHARE; made++) await acme.cp('POST', '/v1/webhook-deliveries/endpoints', { url });
  await acme.run(offline('Hello'));
  await barrier.waiting('hook', SHARE);
  expect(await outcomeOf('hook')).toBe('succeeded');
  // As many as wait for a slot follow, and are answered too.
  for (let open = 0; open < 3; open++) {
    barrier.open('hook');
    if (open < 2) await barrier.waiting('hook', SHARE);
  }
});
