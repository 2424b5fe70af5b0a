import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { startBarrier, type Barrier } from '../../support/fakes/barrier.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, eventsOf, tool, typesOf } from '../../support/fixtures/runs.ts';

const MAX_TURNS = 6;
const MAX_TOKENS = 20_000;
let barrier: Barrier;
let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  [barrier, provider] = await Promise.all([startBarrier(), startOpenAiServer()]);
  service = await startTestService({
    env: {
      RUN_MAX_TURNS: String(MAX_TURNS),
      RUN_MAX_TOKENS: String(MAX_TOKENS),
      EGRESS_ALLOWLIST: barrier.hostAndPort,
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    },
  });
  acme = await service.tenant('acc_acme');
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await Promise.all([barrier?.close(), provider?.close()]);
});

/** The offline model calls the tools that its prompt names; the provider calls what a test scripts. */
const offline = (prompt: string) => ({ agent: 'assistant', prompt, override: { model_override: 'offline' } });
const scripted = { agent: 'assistant', prompt: 'Do as scripted' };

const resultsOf = async (runId: string) =>
  (await eventsOf(acme, runId)).filter(({ event_type }) => event_type === 'tool_result');

// Guards: calls of one turn run at the same time; the server answers only once all have come.
test('calls of one turn overlap', async () => {
  const calls = ['a', 'b', 'c'].map((part) => tool('http_request', { url: `${barrier.url('three', 3)}&part=${part}` }));
  const run = await acme.run(offline(`Fetch them all ${calls.join('')}`));
  expect(run).toMatchObject({ status: 'succeeded', output: expect.stringContaining('open: three') });
  expect((await typesOf(acme, run.run_id)).slice(4)).toEqual([
    'claude_iteration',
    ...['tool_call', 'tool_call', 'tool_call'],
    ...['tool_result', 'tool_result', 'tool_result'],
    ...['claude_iteration', 'run_completed'],
  ]);
});

// Guards: a call that only reads what is at hand takes no activity of its own, and is told of as any other.
test('a quick call is made by its turn', async () => {
  const run = await acme.run(offline(tool('calculator', { expression: '6*7' })));
  expect(run).toMatchObject({ status: 'succeeded', output: expect.stringContaining('42') });
  expect((await typesOf(acme, run.run_id)).slice(4)).toEqual([
    ...['claude_iteration', 'tool_call', 'tool_result', 'claude_iteration', 'run_completed'],
  ]);
  expect(await resultsOf(run.run_id)).toMatchObject([
    { status: 'succeeded', payload: { tool: 'calculator', result_preview: '{"result":"42"}', result_length: 15 } },
  ]);
  const { client } = service.runtime.temporal;
  const { events } = await client.workflow.getHandle(runWorkflowId(run.run_id)).fetchHistory();
  const activities = (events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
  expect(activities).toEqual(['takeTurn', 'takeTurn']);
});

// Guards: calls of a later turn wait for the results of the one before.
test('turns follow each other', async () => {
  const runId = await dispatch(
    acme,
    offline(
      `${tool('http_request', { url: barrier.url('first') })}[[then]]${tool('calculator', { expression: '2+3' })}`,
    ),
  );
  await barrier.waiting('first', 1);
  expect((await typesOf(acme, runId)).slice(4)).toEqual(['claude_iteration', 'tool_call']);
  barrier.open('first');
  expect((await acme.waitForRun(runId)).status).toBe('succeeded');
  expect((await resultsOf(runId)).map(({ payload }) => payload.tool)).toEqual(['http_request', 'calculator']);
});

// Guards: a faulty call is answered to the model, which can correct it; it neither runs the tool nor ends the run.
test('bad arguments, unknown tools and refusals are told to the model', async () => {
  provider.script(
    callTools(
      { id: 'one', name: 'calculator', arguments: { expr: '1+1' } },
      { id: 'two', name: 'launch_rocket', arguments: {} },
      { id: 'two', name: 'http_request', arguments: { url: 'http://169.254.169.254/latest' } },
      { id: 'four', name: 'calculator', arguments: { expression: '40+2' } },
    ),
    answer('I know better now.'),
  );
  const run = await acme.run(scripted);
  expect(run).toMatchObject({ status: 'succeeded', output: 'I know better now.' });
  const told = itemAt(provider.requests, 1).body.messages.filter(({ role }) => role === 'tool') as unknown as {
    content: string;
  }[];
  expect(told).toHaveLength(4);
  expect(first(told).content).toMatch(/bad arguments for calculator: .*expression/);
  expect(itemAt(told, 1).content).toMatch(/there is no tool .*launch_rocket.*calculator/);
  expect(itemAt(told, 2).content).toMatch(/not allowed/);
  expect(itemAt(told, 3).content).toMatch(/42/);
  const byCall = (await resultsOf(run.run_id)).map(({ payload, status }) => `${payload.call_id} ${status}`).sort();
  expect(byCall).toEqual(['call_1_0 failed', 'call_1_1 failed', 'call_1_2 failed', 'call_1_3 succeeded']);
});

// Guards: only the agent's own tools are offered and dispatched.
test('a tool that the agent may not use is unknown to it', async () => {
  provider.script(
    callTools({ id: 'one', name: 'http_request', arguments: { url: barrier.url('never') } }),
    answer('Well.'),
  );
  const run = await acme.run({ ...scripted, agent: 'editor' });
  expect(run.status).toBe('succeeded');
  expect(provider.requests[0]!.body.tools!.map((offered) => offered.function.name)).toEqual([
    'save_artifact',
    'load_skill',
  ]);
  expect((await resultsOf(run.run_id))[0]).toMatchObject({
    status: 'failed',
    payload: { result_preview: expect.stringContaining('there is no tool') },
  });
});

// Guards: a model that goes in circles is stopped after exactly RUN_MAX_TURNS calls.
test('the turn limit ends a run', async () => {
  provider.otherwise(callTools({ id: 'again', name: 'current_time', arguments: {} }));
  const run = await acme.run(scripted);
  expect(run).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^turn_limit_exceeded: .*RUN_MAX_TURNS/),
  });
  expect(provider.requests).toHaveLength(MAX_TURNS);
  expect((await typesOf(acme, run.run_id)).at(-1)).toBe('run_failed');
});

// Guards: tokens are limited over the whole run, and checked before each call.
test('the token limit ends a run', async () => {
  const long = 'many words '.repeat(MAX_TOKENS / 2);
  const run = await acme.run(offline(`${long} ${tool('calculator', { expression: '1+1' })}`));
  expect(run).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^token_limit_exceeded: .*RUN_MAX_TOKENS/),
  });
  const types = await typesOf(acme, run.run_id);
  expect(types.slice(-2)).toEqual(['tool_result', 'run_failed']);
  expect(types.filter((type) => type === 'claude_iteration')).toHaveLength(1);
});

// Guards: a saved file has a row with its real size and digest, and its bytes are in storage under the run.
test('save_artifact keeps a file', async () => {
  const content = 'Größe: 1 m²\n';
  const run = await acme.run(offline(`Keep it ${tool('save_artifact', { filename: 'notes/größe.md', content })}`));
  expect(run.status).toBe('succeeded');
  const [row] = await service.runtime.db.rows<Record<string, string>>(sql`
    select *, encode(sha256(convert_to(${content}, 'utf8')), 'hex') as digest from run_artifacts where run_id = ${run.run_id}`);
  expect(row).toMatchObject({
    customer_id: 'acme',
    call_id: 'call_1_0',
    filename: 'größe.md',
    content_type: 'text/markdown',
    size_bytes: String(Buffer.byteLength(content)),
    sha256: present(row).digest,
  });
  expect((await service.services.files.get(present(present(row).file_key))).toString()).toBe(content);
  expect(run.output).toContain(present(row).id);
});

// Guards: the timeline has previews of calls, and the transcript has their full arguments and results.
test('events stay small whatever a call carries', async () => {
  const run = await acme.run(
    offline(tool('save_artifact', { filename: 'long.txt', content: 'so long '.repeat(1_000) })),
  );
  expect(run.status).toBe('succeeded');
  for (const { payload } of await eventsOf(acme, run.run_id))
    expect(JSON.stringify(payload).length).toBeLessThan(2_000);
});
