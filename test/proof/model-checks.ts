/** What a real model shows of the service: each check does its work, and says what it saw or throws what was wrong. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { RunFailedError, type RunStart } from '../../client/src/index.ts';
import { first, last, present } from '../../src/platform/core/present.ts';
import { fieldsOf } from '../../src/platform/core/record.ts';
import type { ServedCall } from '../support/llama/llama-server.ts';
import { PRICE, type ModelRig } from './model-rig.ts';

export type ModelCheck = readonly [what: string, check: (rig: ModelRig) => Promise<string>];

/** For whatever the machine does besides. */
const PATIENCE_MS = 900_000;
/** Between a person's cancellation and the moment at which the model's server is rid of the work. */
const HANG_UP_MS = 5_000;
const AGENT = 'assistant';

const quoted = (text: string | null): string =>
  JSON.stringify(text && text.length > 60 ? `${text.slice(0, 60)}…` : text);
const tokens = (calls: readonly ServedCall[], count: 'promptTokens' | 'cachedTokens' | 'outputTokens'): number =>
  calls.reduce((sum, call) => sum + call[count], 0);

type Asked = Omit<RunStart, 'agent' | 'prompt'>;

const ask = ({ aos, calls }: ModelRig, prompt: string, more: Asked = {}) =>
  calls(async () => {
    const run = await aos.runs.start({ agent: AGENT, prompt, ...more });
    return { run, result: await run.result({ timeoutMs: PATIENCE_MS }) };
  });

const answersOfIts: ModelCheck = [
  'a run has the answer of the model',
  async (rig) => {
    const { made, calls } = await ask(rig, 'Describe the sea in two sentences.');
    assert.equal(made.result.output, calls.map(({ text }) => text).join(''));
    assert.equal(last(calls).finish, 'stop');
    return quoted(made.result.output);
  },
];

const streams: ModelCheck = [
  'pieces of the text arrive while the model writes',
  async ({ aos, calls }) => {
    const { made, calls: served } = await calls(async () => {
      const run = await aos.runs.start({ agent: AGENT, prompt: 'Tell me a story about a lighthouse.' });
      let text = '';
      const arrivals: number[] = [];
      for await (const update of run.events({ text: true })) {
        if (update.kind !== 'text') continue;
        arrivals.push(Date.now());
        text = text.slice(0, update.piece.offset) + update.piece.text;
      }
      return { text, arrivals, output: (await run.get()).output };
    });
    const ended = present(last(served).endedAt);
    const early = made.arrivals.filter((at) => at < ended).length;
    assert.equal(made.text, made.output);
    assert.equal(made.text, served.map(({ text }) => text).join(''));
    assert.ok(early >= 3, `only ${early} of ${made.arrivals.length} pieces arrived before the model had ended`);
    const firstMs = first(made.arrivals) - present(first(served).firstAt);
    return `${early} of ${made.arrivals.length} pieces before its end, the first after ${firstMs} ms`;
  },
];

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'kind', 'length_m', 'colour', 'crew'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 40 },
    kind: { type: 'string', enum: ['sailing', 'rowing', 'motor'] },
    length_m: { type: 'integer', minimum: 2, maximum: 120 },
    colour: { type: 'string', pattern: '^#[0-9a-f]{6}$' },
    crew: { type: 'array', minItems: 2, maxItems: 4, items: { type: 'string', minLength: 1, maxLength: 30 } },
  },
};

const keepsToSchema: ModelCheck = [
  'an answer is of the schema that was asked for',
  async (rig) => {
    const { made, calls } = await ask(rig, 'Describe one boat.', { outputSchema: SCHEMA });
    const ajv = new Ajv({ strict: false });
    assert.ok(ajv.validate(SCHEMA, made.result.json()), `${ajv.errorsText()}: ${made.result.output}`);
    assert.ok(
      calls.every(({ isOfSchema }) => isOfSchema),
      'the schema did not reach the model',
    );
    return made.result.output;
  },
];

const callsTools: ModelCheck = [
  'a tool is called with arguments of the model, and its result is read',
  async (rig) => {
    const { made, calls } = await ask(rig, 'Ask the tool current_time, and say what day it is.');
    const events = await eventsOf(rig, made.run.id);
    const called = events.find(({ event_type }) => event_type === 'tool_call');
    assert.equal(called?.payload.tool, 'current_time');
    assert.deepEqual([first(calls).finish, last(calls).finish], ['tool_calls', 'stop']);
    const told = present(last(calls).messages.findLast(({ role }) => role === 'tool'));
    return `current_time ${first(calls).text} gave ${quoted(told.content)}`;
  },
];

const remembers: ModelCheck = [
  'a conversation has what was said before, which the model reads from its cache',
  async (rig) => {
    const threadId = `boats-${Date.now()}`;
    const prompt = 'My boat is called Albatross. Greet it.';
    const before = await ask(rig, prompt, { threadId });
    const { made, calls } = await ask(rig, 'What is the name of my boat?', { threadId });
    const { messages, cachedTokens, promptTokens } = last(calls);
    const asked = messages.findIndex(({ role, content }) => role === 'user' && content.includes(prompt));
    assert.ok(asked >= 0, 'the model was not told the first question');
    assert.deepEqual(messages[asked + 1], { role: 'assistant', content: before.made.result.output });
    assert.ok(cachedTokens > promptTokens / 2, `only ${cachedTokens} of ${promptTokens} tokens came from the cache`);
    return `${cachedTokens} of ${promptTokens} tokens from the cache; ${quoted(made.result.output)}`;
  },
];

const booksUsage: ModelCheck = [
  'usage and costs are booked as the model told them',
  async (rig) => {
    const { made, calls } = await ask(rig, 'Say hello to the crew.');
    const events = await eventsOf(rig, made.run.id);
    const booked = events.filter(({ event_type }) => event_type === 'claude_iteration').map(({ payload }) => payload);
    assert.deepEqual(
      booked.map(({ input_tokens, output_tokens, cache_read_tokens = 0 }) => [
        ...[input_tokens, output_tokens, cache_read_tokens],
      ]),
      calls.map(({ promptTokens, outputTokens, cachedTokens }) => [promptTokens, outputTokens, cachedTokens]),
    );
    const usd = (tokens(calls, 'promptTokens') * PRICE.input + tokens(calls, 'outputTokens') * PRICE.output) / 1e6;
    assert.equal(Number(made.result.cost), Number(usd.toFixed(8)));
    const { promptTokens, outputTokens, cachedTokens } = last(calls);
    return `${promptTokens} read (${cachedTokens} cached), ${outputTokens} written, $${made.result.cost}`;
  },
];

const hangsUp: ModelCheck = [
  'a cancelled run hangs up on the model',
  async (rig) => {
    const run = await rig.aos.runs.start({ agent: AGENT, prompt: 'Tell me a very long story about all the seas.' });
    await rig.untilCall(({ outputTokens, endedAt }) => outputTokens >= 5 && endedAt === undefined, PATIENCE_MS);
    const cancelledAt = Date.now();
    await run.cancel();
    const call = await rig.untilCall(({ endedAt }) => endedAt !== undefined, 2 * HANG_UP_MS);
    assert.equal(call.finish, 'hung-up');
    const tookMs = present(call.endedAt) - cancelledAt;
    assert.ok(tookMs < HANG_UP_MS, `the model's server saw it after ${tookMs} ms`);
    await run.result({ timeoutMs: PATIENCE_MS }).catch((error: unknown) => {
      assert.ok(error instanceof RunFailedError, String(error));
      assert.equal(error.status, 'cancelled');
    });
    return `after ${tookMs} ms, at its token ${call.outputTokens}`;
  },
];

/** Settings under which most texts are cut off and end later, and others under which hardly any has its end. */
const CUT_OFF = { MODEL_MAX_OUTPUT_TOKENS: '24', MODEL_MAX_CONTINUATIONS: '12' };
const TRUNCATED = { MODEL_MAX_OUTPUT_TOKENS: '8', MODEL_MAX_CONTINUATIONS: '1' };

/**
 * Asks for texts until one came of the kind that is looked for: how long a text is the model decides.
 * @throws Error where none did
 */
async function untilOneOf({ aos, calls }: ModelRig, prompts: readonly string[], isIt: (run: RunEnd) => boolean) {
  for (const prompt of [...prompts, ...prompts, ...prompts]) {
    const { made, calls: served } = await calls(async () => {
      const run = await aos.runs.start({ agent: AGENT, prompt });
      const end = await run.result({ timeoutMs: PATIENCE_MS }).catch((error: unknown) => error);
      return { id: run.id, failure: end instanceof RunFailedError ? end.code : undefined, ...(await run.get()) };
    });
    const ended = { ...made, calls: served };
    if (isIt(ended)) return ended;
  }
  throw new Error('of all that the model wrote nothing was of this kind');
}

interface RunEnd {
  failure: string | undefined;
  output: string | null;
  calls: readonly ServedCall[];
}

const goesOn: ModelCheck = [
  'a text that the limit cuts off goes on, and is one',
  async (rig) => {
    const prompts = [
      'Describe the sea in two sentences.',
      'What is a boat? Two sentences.',
      'Greet the captain kindly.',
    ];
    const { output, calls } = await untilOneOf(rig, prompts, ({ failure, calls }) => !failure && calls.length > 1);
    const ends = calls.map(({ finish }) => finish);
    assert.deepEqual(ends, [...calls.slice(1).map(() => 'length'), 'stop']);
    assert.equal(output, calls.map(({ text }) => text).join(''));
    return `${calls.length} pieces, ${tokens(calls, 'outputTokens')} tokens: ${quoted(output)}`;
  },
];

const isTruncated: ModelCheck = [
  'one that does not end in time fails, and what there is stays readable',
  async (rig) => {
    const prompts = ['Write a long story of ten chapters.', 'List all animals, one in a line.'];
    const run = await untilOneOf(rig, prompts, ({ failure }) => failure !== undefined);
    assert.equal(run.failure, 'model_output_truncated');
    assert.equal(run.calls.length, 1 + Number(TRUNCATED.MODEL_MAX_CONTINUATIONS));
    const most = Number(TRUNCATED.MODEL_MAX_OUTPUT_TOKENS);
    assert.ok(run.calls.every(({ finish, outputTokens }) => finish === 'length' && outputTokens === most));
    const { body } = await rig.cp('GET', `/v1/runs/${run.id}/transcript`);
    const transcript = JSON.stringify(body);
    for (const { text } of run.calls) {
      assert.ok(transcript.includes(JSON.stringify(text).slice(1, -1)), `the transcript has no ${quoted(text)}`);
    }
    return `${run.failure} after ${run.calls.length} calls of ${most} tokens`;
  },
];

/** The smallest that ships: a gate of a person, a reviewer, and a rendered file in the end. */
const WORKFLOW = 'content-slideshow';
/** The reviewer is a model too, and turns the work down for no reason: a person has it done again so often. */
const MOST_RETRIES = 8;

const endsWorkflow: ModelCheck = [
  `the workflow ${WORKFLOW} comes to its end`,
  async (rig) => {
    let approved = 0;
    let retried = 0;
    const { made, calls } = await rig.calls(async () => {
      const project = await rig.aos.projects.start({
        workflow: WORKFLOW,
        brief: 'A short talk about why small boats are fun.',
        params: { slides: 3, minutes: 5 },
      });
      for (; ; await wait(1_000)) {
        const { status, pause_reason } = await project.get();
        if (status === 'completed') return project.artifacts();
        for (const gate of await project.gates()) {
          await gate.approve({ comment: 'Good.' });
          approved += 1;
        }
        if (status !== 'paused') continue;
        const failed = await failedSteps(rig, project.id);
        const errors = failed.map(({ step_slug, error }) => `${step_slug}: ${error}`).join(', ');
        assert.ok(failed.length > 0 && retried < MOST_RETRIES, `it stands (${pause_reason}): ${errors}`);
        for (const { id } of failed) {
          await rig.cp('POST', `/v1/projects/${project.id}/subtasks/${id}/retry`);
          retried += 1;
        }
        await project.resume();
      }
    });
    const deck = made.find(({ phase_slug }) => phase_slug === 'deck');
    const slides = String(fieldsOf(deck?.content)['content']).split('<section class="slide"').length - 1;
    assert.ok(slides > 0, 'its file has no slides');
    assert.equal(approved, 1);
    const written = `${calls.length} calls, ${tokens(calls, 'outputTokens')} tokens written, ${slides} slides`;
    return `${written}, 1 gate approved, ${retried} steps retried after a reviewer's refusals`;
  },
];

interface Step {
  id: string;
  step_slug: string;
  status: string;
  error: string | null;
}

async function failedSteps({ cp }: ModelRig, projectId: string): Promise<Step[]> {
  const { body: tasks } = await cp('GET', `/v1/projects/${projectId}/tasks`);
  const found: Step[] = [];
  for (const { id } of tasks.data) {
    const { body: steps } = await cp('GET', `/v1/projects/${projectId}/tasks/${id}/subtasks`);
    found.push(...steps.data);
  }
  return found.filter(({ status }) => status === 'failed');
}

const eventsOf = async ({ cp }: ModelRig, runId: string): Promise<RunEvent[]> =>
  (await cp('GET', `/v1/runs/${runId}/events?limit=2000`)).body.data;

interface RunEvent {
  event_type: string;
  payload: Record<string, unknown>;
}

/** By the settings of the service that shows them. */
export const CHECKS: readonly { settings: Record<string, string>; checks: readonly ModelCheck[] }[] = [
  { settings: CUT_OFF, checks: [goesOn] },
  { settings: TRUNCATED, checks: [isTruncated] },
  { settings: {}, checks: [answersOfIts, streams, keepsToSchema, callsTools, remembers, booksUsage, hangsUp] },
];
export const WORKFLOW_CHECKS: typeof CHECKS = [{ settings: {}, checks: [endsWorkflow] }];
