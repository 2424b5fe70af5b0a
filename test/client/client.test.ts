/** The client against the service: runs and projects, with a key and with a session. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createClient,
  isProblem,
  ProjectAbandonedError,
  RunFailedError,
  WaitTimeoutError,
  type Client,
} from '../../client/src/index.ts';
import { runsList } from '../../client/src/api.ts';
import { present } from '../../src/platform/core/present.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let byKey: Client;
let bySession: Client;

beforeAll(async () => {
  service = await startTestService({ env: { LIVE_STREAM_LIFE: '2s' } });
  tenant = await service.tenant('acc_client');
  byKey = createClient({ baseUrl: `${service.baseUrl}/`, apiKey: tenant.apiKey });
  bySession = createClient({ baseUrl: service.baseUrl, session: tenant.session });
});
afterAll(() => service.close());

const PROMPT = 'What is 17% of 2340? [[tool:calculator {"expression":"2340*0.17"}]]';

describe.each([
  ['an API key', () => byKey, null],
  ['a session', () => bySession, expect.stringMatching(/^0\.0*[1-9]/)],
])('with %s', (_name, client, known) => {
  // Guards: the documented way from a prompt to an answer is two calls.
  test('a run is started, and its result awaited', async () => {
    const run = await client().runs.start({ agent: 'assistant', prompt: PROMPT });
    const { output, cost, run: state } = await run.result();
    expect(output).toContain('397.8');
    expect(cost).toEqual(known);
    expect(state).toMatchObject({ run_id: run.id, status: 'succeeded', agent: 'assistant' });
  });

  // Guards: a program that asks for JSON gets a value, in the type that it names.
  test('a run with a schema gives a value', async () => {
    const outputSchema = { type: 'object', properties: { unit: { const: 'EUR' } }, required: ['unit'] };
    const run = await client().runs.start({ agent: 'assistant', prompt: 'What does it cost?', outputSchema });
    const { unit } = (await run.result<{ unit: string }>()).json();
    expect(unit).toBe('EUR');
  });

  // Guards: the reason of a failed run is a code that the compiler knows, not a text to be searched.
  test('a run that fails says why', async () => {
    const run = await client().runs.start({ agent: 'writer', prompt: 'A novel', budgetUsd: '0.000001' });
    const error = await run.result().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunFailedError);
    expect(error).toMatchObject({ code: 'budget_exceeded', status: 'failed', runId: run.id });
  });

  test('a wait has an end', async () => {
    const run = await client().runs.start({ agent: 'assistant', prompt: 'Think [[sleep:60000]]' });
    await expect(run.result({ timeoutMs: 50 })).rejects.toThrow(WaitTimeoutError);
    const stop = new AbortController();
    const waiting = run.result({ signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await bySession.runs.open(run.id).cancel();
    await expect(run.result()).rejects.toMatchObject({ status: 'cancelled', code: 'unknown' });
  });

  test('a project is started, its gate answered, its end awaited', async () => {
    const project = await client().projects.start({
      workflow: 'blog-post',
      brief: 'Why small teams should write their decisions down',
      params: { length_words: 300 },
      budgetUsd: '2',
    });
    const own = bySession.projects.open(project.id);
    const completed = project.completed();
    const [gate] = await eventually(async () => {
      const gates = await own.gates();
      expect(gates).toHaveLength(1);
      return gates;
    });
    expect(gate).toMatchObject({ kind: 'human', place: 'draft/approve', projectId: project.id });
    await present(gate).approve({ comment: 'good' });
    await expect(present(gate).reject()).rejects.toMatchObject({ code: 'gate_not_waiting' });
    await expect(completed).resolves.toMatchObject({ status: 'completed', project_id: project.id });
    expect((await own.artifacts()).map(({ phase_slug }) => phase_slug)).toContain('post');
  });
});

// Guards: with a session, a run's timeline is yielded from its beginning to its end, each row once.
test('a run is followed', async () => {
  const run = await bySession.runs.start({ agent: 'assistant', prompt: PROMPT });
  const types: string[] = [];
  for await (const update of run.events()) if (update.kind === 'event') types.push(update.event.event_type);
  expect(types[0]).toBe('run_received');
  expect(types.at(-1)).toBe('run_completed');
  const listed = await tenant.cp('GET', `/v1/runs/${run.id}/events`);
  expect(types).toEqual(listed.body.data.map(({ event_type }: { event_type: string }) => event_type));
});

// Guards: with a session, a project's feed is yielded from its beginning to its end, each row once.
test('a project is followed', async () => {
  const project = await bySession.projects.start({
    workflow: 'blog-post',
    brief: 'Write it down',
    params: { length_words: 300 },
  });
  const topics: string[] = [];
  for await (const update of project.events()) {
    if (update.kind !== 'event') continue;
    topics.push(update.event.topic);
    if (update.event.topic === 'gate_awaiting') for (const gate of await project.gates()) await gate.approve();
  }
  const listed = await tenant.cp('GET', `/v1/projects/${project.id}/events?limit=1000`);
  expect(topics).toEqual(listed.body.data.map(({ topic }: { topic: string }) => topic).reverse());
  expect(topics.at(-1)).toBe('project_completed');
});

// Guards: a follower that comes late, or has no stream, gets the same rows as one with a stream: each row once, from
// the beginning.
test('a run is followed where there is no stream, and after its end', async () => {
  const listedFirst: typeof fetch = (input, init) =>
    (input as Request).url.includes('/v1/live')
      ? Promise.resolve(Response.json({ detail: 'not_found' }, { status: 404 }))
      : fetch(input, init);
  const polling = createClient({ baseUrl: service.baseUrl, session: tenant.session, fetch: listedFirst });
  const run = await polling.runs.start({ agent: 'assistant', prompt: PROMPT });
  const seen = async (client: Client) => {
    const ids: number[] = [];
    for await (const update of client.runs.open(run.id).events())
      if (update.kind === 'event') ids.push(update.event.id);
    return ids;
  };
  const polled = await seen(polling);
  const listed = await tenant.cp('GET', `/v1/runs/${run.id}/events`);
  expect(polled).toEqual(listed.body.data.map(({ id }: { id: number }) => id));
  expect(await seen(bySession)).toEqual(polled);
});

// Guards: an abandoned project ends for those who follow it and for those who wait for it.
test('a project that is abandoned is told', async () => {
  const project = await bySession.projects.start({ workflow: 'blog-post', brief: 'x', params: { length_words: 300 } });
  const following = (async () => {
    for await (const _ of project.events());
  })();
  const completed = project.completed().catch((thrown: unknown) => thrown);
  await tenant.cp('POST', `/v1/projects/${project.id}/abandon`);
  await following;
  expect(await completed).toBeInstanceOf(ProjectAbandonedError);
});

// Guards: the log of the workspace is followed as it grows, typed by kind.
test('a workspace is followed', async () => {
  const stop = new AbortController();
  const kinds: string[] = [];
  for await (const item of bySession.live({ kinds: ['run'], signal: stop.signal })) {
    kinds.push(item.kind);
    if (item.kind === 'open') await bySession.runs.start({ agent: 'assistant', prompt: 'Say something.' });
    if (item.kind === 'run' && item.event.event_type === 'run_completed') break;
  }
  expect(new Set(kinds)).toEqual(new Set(['open', 'run']));
  await expect(bySession.live({ after: 'nonsense' }).next()).rejects.toMatchObject({ code: 'cursor_unknown' });
});

// Guards: each endpoint can also be called by itself, typed, with the errors of the client.
test('an endpoint is called by its function', async () => {
  const { data } = await runsList({ client: bySession.http, query: { limit: 2 } });
  expect(data).toHaveLength(2);
});

describe('problems', () => {
  test('have the code of the catalogue', async () => {
    const error: unknown = await byKey.runs
      .open('no-such-run')
      .get()
      .catch((thrown: unknown) => thrown);
    expect(isProblem(error, 'not_found')).toBe(true);
    expect(isProblem(error, 'auth_required', 'internal_error')).toBe(false);
  });

  test('of fields say which', async () => {
    const error: unknown = await byKey.runs.start({ prompt: ' ' }).catch((thrown: unknown) => thrown);
    if (!isProblem(error, 'validation')) throw error;
    expect(error.detail[0]).toMatchObject({ loc: ['body', 'prompt'] });
    expect(error.requestId).toMatch(/./);
  });

  test('whose words are not their code are known all the same', async () => {
    await expect(bySession.projects.start({ workflow: 'none', brief: 'x' })).rejects.toMatchObject({
      code: 'bad_request',
      status: 400,
    });
  });

  test('of credentials', async () => {
    const noKey = createClient({ baseUrl: service.baseUrl, apiKey: 'svc_pk_none' });
    await expect(noKey.runs.start({ prompt: 'x' })).rejects.toMatchObject({ code: 'invalid_api_key' });
    const noSession = createClient({ baseUrl: service.baseUrl, session: 'browser' });
    await expect(noSession.runs.start({ prompt: 'x' })).rejects.toMatchObject({ code: 'auth_required' });
  });
});

test('without a credential there is no client', () => {
  expect(() => createClient({ baseUrl: service.baseUrl })).toThrow('give an apiKey, a session, or both');
  expect(() => createClient({ baseUrl: 'nowhere', apiKey: 'k' })).toThrow('baseUrl must be an address');
});
