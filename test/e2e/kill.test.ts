/** `kill -9` of the service's processes in the midst of everything, once a process, and what is there afterwards. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newRunId } from '../../src/platform/core/ids.ts';
import { last, present } from '../../src/platform/core/present.ts';
import { createRunStore } from '../../src/resources/runs/store/index.ts';
import { PARTS, prepareProcesses, type Processes } from '../support/processes/processes.ts';
import type { Part } from '../support/processes/service-process.ts';
import { drawn } from '../support/runner/sizes.ts';
import { tool } from '../support/fixtures/runs.ts';
import { eventually } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { dispatch, endsIn, outcomesOf, untilRunning, type Outcome } from './runs.ts';

const NOTIFIED_RUNS = 20;
const CONVERSATION = ['first of a conversation', 'second of a conversation', 'third of a conversation'];
const REACTIONS = [500, 200, 'reset', 200, 200, 200, 'timeout', 200, 200, 200] as const;

let receiver: WebhookReceiver;
let processes: Processes;
/** Runs whose webhook was answered 200. */
const taken = new Set<string>();
/** The first run to be heard of is refused until the kill, so that its delivery is then between two attempts. */
let isRefusing = false;
let refused: string | undefined;
/** What is held for a part is answered once it has been killed. */
const mayAnswer = new Map(PARTS.map((part) => [part as string, Promise.withResolvers<void>()]));
beforeAll(async () => {
  let hooks = 0;
  receiver = await startWebhookReceiver(async ({ path, body }) => {
    if (path.startsWith('/hook')) {
      const runId: string = JSON.parse(body).data.run_id;
      if (isRefusing) refused ??= runId;
      const reaction = isRefusing && runId === refused ? 503 : present(REACTIONS[hooks++ % REACTIONS.length]);
      if (reaction === 200) taken.add(runId);
      return reaction;
    }
    if (path.startsWith('/held')) await present(mayAnswer.get(last(path.split('-')))).promise;
    return { status: 200, body: path };
  });
  processes = await prepareProcesses({
    HOUSEKEEPING_INTERVAL: '1s',
    EGRESS_ALLOWLIST: receiver.hostAndPort,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_RETRY_INITIAL: '200ms',
    WEBHOOK_TIMEOUT: '1s',
  });
  await processes.start();
  const hook = { url: `http://${receiver.hostAndPort}/hook`, events: ['run.succeeded'] };
  expect((await processes.api('POST', '/v1/webhooks', hook)).status).toBe(201);
});
afterAll(async () => {
  for (const { resolve } of mayAnswer.values()) resolve();
  await processes?.close();
  await receiver?.close();
});

const timesAt = (path: string) => receiver.received.filter((request) => request.path === path).length;

describe.each(drawn('killed parts', PARTS, 1).map((part) => [part]))('kill -9 of the %s', (part: Part) => {
  const get = (name: string) => tool('http_request', { url: `http://${receiver.hostAndPort}/${name}-${part}` });
  const post = (name: string) =>
    tool('http_request', { method: 'POST', url: `http://${receiver.hostAndPort}/${name}-${part}`, body: '{}' });
  const accepted: Record<string, string> = {};
  let outcomes: Record<string, Outcome>;
  let childRuns: Outcome[];

  beforeAll(async () => {
    const accept = async (name: string, prompt: string, more?: object) =>
      void (accepted[name] = await dispatch(processes, prompt, more));
    await accept('between tool turns', `${get('done')} [[then]] ${get('held')} [[then]] ${get('next')}`);
    await accept('in an irreversible call', post('held-post'));
    await accept('waiting for a child', tool('spawn_run', { agent: 'writer', prompt: get('held-child') }));
    for (const place of CONVERSATION) await accept(place, '[[sleep:1000]]', { thread_id: part });
    await eventually(() => {
      for (const held of ['held', 'held-post', 'held-child']) expect(timesAt(`/${held}-${part}`)).toBe(1);
    });
    const before = timesAt('/hook');
    refused = undefined;
    isRefusing = true;
    for (let i = 0; i < NOTIFIED_RUNS; i++) await accept(`notified ${i}`, 'Hello');
    await eventually(() => expect(timesAt('/hook')).toBeGreaterThan(before + 3));
    await accept('in a model call', '[[sleep:3000]]');
    await untilRunning(processes, present(accepted['in a model call']));
    await accept('just accepted', 'Hello');
    await processes.stop('SIGKILL', [part]);
    isRefusing = false;
    expect(taken).not.toContain(present(refused));

    if (part !== 'api') accepted['never started'] = await acceptWithoutStarting();
    await processes.start();
    // What was in flight would now be answered, to whoever still asks.
    present(mayAnswer.get(part)).resolve();
    outcomes = await outcomesOf(processes, accepted);
    const children = present(outcomes['waiting for a child'])
      .events.filter(({ event_type }) => event_type === 'agent_run_started')
      .map(({ payload }, i) => [`child ${i}`, payload['run_id'] as string]);
    childRuns = Object.values(await outcomesOf(processes, Object.fromEntries(children)));
  });

  /** A run whose process died between accepting it and starting its workflow. */
  async function acceptWithoutStarting(): Promise<string> {
    const id = newRunId();
    await processes.withDatabase(async (db) => {
      await createRunStore(db).acceptRun({
        id,
        customerId: 'internal',
        agent: 'assistant',
        transport: 'rest',
        prompt: 'Hello',
        threadId: null,
        channelId: null,
        conversation: null,
        override: null,
      });
      // Long enough ago that nobody is starting it.
      await db.rows(sql`update runs set created_at = now() - interval '1 minute' where id = ${id}`);
    });
    return id;
  }

  // Guards: a run that was answered 201 ends once, wherever the worker was killed, even where it had not been started.
  test('each accepted run has one end', () => {
    const ends = endsIn(outcomes);
    expect(ends).toEqual(Object.fromEntries(Object.keys(accepted).map((name) => [name, ['run_completed']])));
  });

  // Guards: no row of a timeline is doubled by an activity that was repeated.
  test('nothing is recorded twice', () => {
    const { events } = present(outcomes['between tool turns']);
    const recorded = events.map(
      ({ event_type, payload }) => `${event_type} ${payload['turn'] ?? payload['call_id'] ?? ''}`,
    );
    expect(recorded.filter((row) => !row.startsWith('claude_request'))).toEqual([
      ...['run_received ', 'run_started ', 'model_resolved ', 'context_loaded '],
      ...['claude_iteration 1', 'tool_call call_1_0', 'tool_result call_1_0'],
      ...['claude_iteration 2', 'tool_call call_2_0', 'tool_result call_2_0'],
      ...['claude_iteration 3', 'tool_call call_3_0', 'tool_result call_3_0'],
      ...['claude_iteration 4', 'run_completed '],
    ]);
  });

  // Guards: a recorded result is not fetched again; a read that was under way is repeated, because reading does no
  // harm.
  test('reading calls are made until they are recorded', () => {
    expect(timesAt(`/done-${part}`)).toBe(1);
    expect(timesAt(`/next-${part}`)).toBe(1);
    expect(timesAt(`/held-${part}`)).toBe(part === 'api' ? 1 : 2);
  });

  // Guards: an effect that may have happened is not repeated, and the model is told that its outcome is unknown.
  test('an irreversible call is not repeated', () => {
    expect(timesAt(`/held-post-${part}`)).toBe(1);
    const result = present(outcomes['in an irreversible call']).events.find(
      ({ event_type }) => event_type === 'tool_result',
    );
    if (part === 'api') expect(result).toMatchObject({ status: 'succeeded' });
    else
      expect(result).toMatchObject({
        status: 'failed',
        payload: { result_preview: expect.stringContaining('unknown') },
      });
  });

  // Guards: a parent that waits gets the result of its one child, even where the child lost its worker too.
  test('a spawned run comes back to its parent', () => {
    expect(childRuns.map(({ status }) => status)).toEqual(['succeeded']);
    const result = present(outcomes['waiting for a child']).events.find(
      ({ event_type }) => event_type === 'tool_result',
    );
    expect(result).toMatchObject({
      status: 'succeeded',
      payload: { result_preview: expect.stringContaining('output') },
    });
  });

  // Guards: the order of a conversation survives.
  test('a conversation keeps its order', () => {
    const ends = CONVERSATION.map((place) => present(outcomes[place]).completed_at);
    expect(ends).toEqual([...ends].sort());
  });

  // Guards: a delivery that was in progress, about to begin or between two attempts is made at least once.
  test('each webhook is delivered', async () => {
    await eventually(() => expect(Object.values(accepted).filter((id) => !taken.has(id))).toEqual([]));
    await eventually(async () => {
      const { body } = await processes.cp('GET', '/v1/webhook-deliveries?limit=500');
      expect(new Set(body.data.map(({ status }: { status: string }) => status))).toEqual(new Set(['delivered']));
    });
  });
});
