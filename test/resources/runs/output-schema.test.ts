/** Runs that ask for JSON of a schema: the answer is of it, or the run fails and says why. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { jobPrefix } from '../../../src/resources/scheduled-jobs/triggers.ts';
import { present } from '../../../src/platform/core/present.ts';
import { agentStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { eventsOf } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const RIVER = {
  type: 'object',
  properties: { name: { type: 'string' }, length_km: { type: 'integer', minimum: 1 } },
  required: ['name', 'length_km'],
};
const GOOD = '{"name":"Elbe","length_km":1094}';
const BAD = '{"name":"Elbe"}';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  acme = await service.tenant('acc_acme');
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const run = (output_schema: unknown = RIVER) =>
  acme.run({ agent: 'assistant', prompt: 'A river.', override: { model_override: 'scripted' }, output_schema });
const told = (at: number) => (provider.requests.at(at)?.body.messages ?? []).slice(1);

// Guards: the schema reaches the provider, and an answer of it is the output, tools or not.
test.each([
  ['at once', []],
  ['after a tool', [callTools({ id: 'c', name: 'current_time', arguments: {} })]],
])('an answer of the schema is the output, %s', async (_, before) => {
  provider.script(...before, answer(`\`\`\`json\n${GOOD}\n\`\`\``));
  expect(await run()).toMatchObject({ status: 'succeeded', output: GOOD });
  const format = { type: 'json_schema', json_schema: expect.objectContaining({ schema: RIVER }) };
  for (const { body } of provider.requests) expect(body.response_format).toEqual(format);
});

// Guards: an answer that is not of the schema is sent back with what is wrong with it, and is no output.
test.each([
  ['lacks a field', BAD, 'length_km'],
  ['is no JSON', 'The Elbe.', 'not JSON'],
])('an answer that %s is sent back with the fault', async (_, bad, fault) => {
  provider.script(answer(bad), answer(GOOD));
  const ended = await run();
  expect(ended).toMatchObject({ status: 'succeeded', output: GOOD });
  expect(told(1)).toEqual([
    expect.objectContaining({ role: 'user' }),
    { role: 'assistant', content: bad },
    { role: 'user', content: expect.stringContaining(fault) },
  ]);
  const iterations = (await eventsOf(acme, ended.run_id)).filter((each) => each.event_type === 'claude_iteration');
  expect(iterations.map(({ payload }) => payload.output_fault)).toEqual([expect.stringContaining(fault), undefined]);
});

// Guards against: paying for repeats without end. What there is stays readable.
test('fails after two repeats', async () => {
  provider.otherwise(answer(BAD));
  const ended = await run();
  expect(ended).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^output_invalid: .*3 answers.*length_km/),
  });
  expect(provider.requests).toHaveLength(3);
  const { body } = await acme.cp('GET', `/v1/runs/${ended.run_id}/transcript`);
  expect(JSON.stringify(body)).toContain('Elbe');
});

// Guards: what cannot be a schema is refused before there is a run, on both surfaces and in schedules.
test.each([
  ['no schema', { type: 'rivr' }],
  ['too deep', JSON.parse(`${'{"items":'.repeat(200)}{}${'}'.repeat(200)}`)],
  ['a reference to elsewhere', { $ref: 'https://example.com/river.json' }],
])('refuses what is %s', async (_, output_schema) => {
  const body = { agent: 'assistant', prompt: 'A river.', output_schema };
  const faults = { detail: [expect.objectContaining({ loc: expect.arrayContaining(['body', 'output_schema']) })] };
  expect(await acme.cp('POST', '/v1/runs', body)).toMatchObject({ status: 422, body: faults });
  expect(await acme.api('POST', '/v1/runs', body)).toMatchObject({ status: 422, body: faults });
  const job = { name: 'River', cron: '0 3 * * *', agent_slug: 'assistant', brief: 'A river.', output_schema };
  expect(await acme.cp('POST', '/v1/scheduled-jobs', job)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('output_schema') },
  });
});

// Guards: a retry asks for what the first run asked for.
test('a retry has the schema of the run', async () => {
  provider.script(answer(GOOD), answer(BAD), answer(GOOD));
  const { run_id } = await run();
  const again = await acme.cp('POST', `/v1/runs/${run_id}/retry`);
  expect(await acme.waitForRun(again.body.run_id)).toMatchObject({ status: 'succeeded', output: GOOD });
  expect(provider.requests).toHaveLength(3);
});

// Neither the alphabet's order nor that of their lengths, in which Postgres keeps the keys of jsonb.
const ORDERED = {
  type: 'object',
  properties: {
    reasons: { type: 'array', items: { type: 'object', properties: { why: {}, because: {}, a: {} } } },
    doubts: { type: 'string' },
    b: { type: 'string' },
    answer: { type: 'string' },
  },
};

/** @returns the names of properties as they stand in the text of a schema */
const namesIn = (schema: unknown) =>
  JSON.stringify(schema).match(/(reasons|doubts|why|because|answer)(?=":)|"[ab](?=":)/g);

const overHttp = async () => {
  await run(ORDERED);
};
const bySchedule = async () => {
  const job = { agent_slug: 'assistant', name: 'ordered', cron: '0 6 * * *', brief: 'A river.', model: 'scripted' };
  const { body } = await acme.cp('POST', '/v1/scheduled-jobs', { ...job, output_schema: ORDERED });
  expect(namesIn((await acme.cp('GET', '/v1/scheduled-jobs')).body)).toEqual(namesIn(ORDERED));
  await service.runtime.temporal.client.schedule
    .getHandle(`${jobPrefix(service.runtime.config)}${acme.caller.customerId}/${body.id}`)
    .trigger();
};
const inProject = async () => {
  const agent = { slug: 'shaper', model: 'scripted', description: 'd', prompt: 'p', allowed_tool_slugs: [] };
  await acme.cp('POST', '/v1/agents', agent);
  await makeTemplate(acme, 'ordered', [
    phaseSpec('text', [agentStep('write', { assignee: 'shaper', output_schema: ORDERED })]),
  ]);
  const { body } = await acme.cp('GET', '/v1/workflows/ordered');
  expect(namesIn(body.spec ?? body)).toEqual(namesIn(ORDERED));
  await startProject(acme, 'ordered');
};

// Guards against: a model that writes its answer before its reasons, because the order of properties was lost in a column.
test.each([
  ['a call', overHttp],
  ['a schedule', bySchedule],
  ['a step of a project', inProject],
])('the properties of %s reach the provider in their order', async (_, ask) => {
  provider.otherwise(answer('{}'));
  await ask();
  await provider.received(1);
  const { body } = present(provider.requests[0]);
  expect(namesIn(body.response_format)).toEqual(namesIn(ORDERED));
  const instructions = JSON.stringify(body.messages);
  expect(instructions.replaceAll('\\', '')).toContain(JSON.stringify(ORDERED.properties));
  expect(instructions).not.toContain('x-aos');
});
