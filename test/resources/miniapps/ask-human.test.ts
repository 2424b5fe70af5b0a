import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import type { RunningWorker } from '../../../src/worker.ts';
import { readHistories } from '../../support/temporal/histories.ts';
import { dispatch, endsOf, eventsOf, tool, typesOf } from '../../support/fixtures/runs.ts';
import {
  call,
  eventually,
  sessionFor,
  startTestService,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { ASKER, askedOn, asks, look, newTenant, resultsOf, send } from './people.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';

let service: TestService;
let tenant: Tenant;
let worker: RunningWorker;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { HOUSEKEEPING_INTERVAL: '1s' } });
  worker = await service.startWorker();
  tenant = await newTenant(service, 'acc_asking');
});
afterAll(() => service?.close());

const BY_PAGE = { name: 'page', via: 'page' } as const;
const COLOUR = { question: 'Which colour?', options: ['red', 'blue'] };

describe('a question', () => {
  // Guards: the address of the page is in the timeline, and the answer reaches the model once, as the result of the
  // call.
  test('is answered on its page', async () => {
    const runId = await asks(tenant, COLOUR);
    const page = await askedOn(service, tenant, runId);
    const shown = await look(page);
    expect(shown.status).toBe(200);
    expect(shown.body).toContain('Which colour?');
    // Whoever gets the address by mail learns who asks, outside of what the page itself can say.
    expect(shown.body).toMatch(
      new RegExp(`<header>The agent <b>${ASKER}</b> of the workspace <b>asking</b> asks, in run <code>${runId}</code>`),
    );
    expect(shown.body).toMatch(/takes an answer until <time datetime="\d{4}-[^"]*Z">[^<]* UTC</);

    expect(await send(page, '{"answer":"blue"}')).toMatchObject({ status: 200, body: { status: 'submitted' } });
    const run = await tenant.waitForRun(runId);
    expect(run).toMatchObject({ status: 'succeeded', output: expect.stringContaining('blue') });
    const [result, ...more] = await resultsOf(tenant, runId);
    expect(more).toEqual([]);
    expect(result).toMatchObject({ tool: 'ask_human', status: 'succeeded' });
    expect(JSON.parse(present(result).result_preview)).toEqual({
      page_id: page.id,
      submitted_at: expect.stringMatching(/Z$/),
      data: { answer: 'blue' },
    });
    expect((await look(page)).status).toBe(410);
    expect(await send(page, '{"answer":"red"}')).toMatchObject({ status: 409, body: { detail: 'already_submitted' } });
  });

  // Guards: whoever has the address may answer, so that who only looks is shown a run without it, wherever it stands.
  test('is not answered by who only looks', async () => {
    const runId = await asks(tenant, COLOUR);
    const { token } = await askedOn(service, tenant, runId);
    const asRole = async (role: 'member' | 'viewer', path: string) => {
      const cookie = `service_session=${sessionFor(tenant.caller, role)}`;
      const { status, body } = await call(`${service.baseUrl}/api/v1/cp${path}`, 'GET', { cookie });
      expect(status).toBe(200);
      return JSON.stringify(body);
    };
    for (const path of [`/v1/runs/${runId}/events`, `/v1/inbox`]) {
      expect(await asRole('viewer', path)).not.toContain(token);
    }
    expect(await asRole('member', `/v1/runs/${runId}/events`)).toContain(token);
    expect(await asRole('viewer', `/v1/runs/${runId}/events`)).toContain('/miniapps/***');
    const inbox = JSON.parse(await asRole('viewer', '/v1/inbox')) as { data: { run_id: string }[] };
    expect(inbox.data.map(({ run_id }) => run_id)).toContain(runId);
  });

  // Guards: the agent that ships as the example of asking can ask.
  test('is one that the built-in interviewer can ask', async () => {
    const { body } = await tenant.api('POST', '/v1/runs', { agent: 'interviewer', prompt: tool('ask_human', COLOUR) });
    const page = await askedOn(service, tenant, body.run_id);
    expect((await look(page)).body).toContain('<b>interviewer</b>');
    await send(page, '{"answer":"blue"}');
    expect(await tenant.waitForRun(body.run_id)).toMatchObject({ status: 'succeeded' });
  });

  // Guards: of simultaneous answers one counts, and each person learns whether it was theirs.
  test('is answered once', async () => {
    const runId = await asks(tenant, COLOUR);
    const page = await askedOn(service, tenant, runId);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(page, JSON.stringify({ answer: n }))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    await tenant.waitForRun(runId);
    expect(first(await resultsOf(tenant, runId)).result_preview).toContain(`{"answer":${winner}}`);
  });

  // Guards: where nobody answers, the model is told and goes on, and the page is closed.
  test('that nobody answers ends with its time', async () => {
    const runId = await asks(tenant, { ...COLOUR, timeout_s: 1 });
    const page = await askedOn(service, tenant, runId);
    expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(await resultsOf(tenant, runId)).toMatchObject([
      { status: 'failed', result_preview: '{"error":"nobody has answered in time"}' },
    ]);
    expect((await look(page)).status).toBe(410);
    expect((await send(page, '{"answer":"blue"}')).status).toBe(404);
  });

  // Guards: a run that waits for a person can be cancelled, and nobody answers it then.
  test('goes with its run', async () => {
    const runId = await asks(tenant, COLOUR);
    const page = await askedOn(service, tenant, runId);
    expect((await tenant.cp('POST', `/v1/runs/${runId}/cancel`)).status).toBe(200);
    await eventually(async () => expect((await tenant.waitForRun(runId)).status).toBe('cancelled'));
    expect((await look(page)).status).toBe(410);
    expect((await send(page, '{"answer":"blue"}')).status).toBe(404);
    expect(endsOf(await typesOf(tenant, runId))).toEqual(['run_cancelled']);
  });

  // Guards: the questions of one turn wait side by side, each for its own answer.
  test('waits beside another', async () => {
    const prompt = ['One?', 'Two?'].map((question) => tool('ask_human', { question })).join(' ');
    const runId = await dispatch(tenant, { agent: ASKER, prompt });
    const pages = await eventually(async () => {
      const urls = (await eventsOf(tenant, runId)).flatMap(({ payload }) => payload.url ?? []) as string[];
      if (urls.length !== 2) throw new Error('not both have been asked yet');
      return urls.map((url) => ({ id: '', token: '', url: service.baseUrl + new URL(url).pathname }));
    });
    for (const page of pages.toReversed()) {
      expect(await send(page, JSON.stringify({ answer: page.url }))).toMatchObject({ status: 200 });
    }
    expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(await resultsOf(tenant, runId)).toHaveLength(2);
  });
});

describe('the wait', () => {
  // Guards: no process has to live while a question waits: the worker can be gone when the answer comes.
  test('outlives the worker', async () => {
    const runId = await asks(tenant, COLOUR);
    const page = await askedOn(service, tenant, runId);
    await worker.close();
    expect((await send(page, '{"answer":"blue"}')).status).toBe(200);
    worker = await service.startWorker();
    expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
  });

  // Guards: an answer is recorded before the run is told. Where telling fails, housekeeping does it, but not while
  // another process is about to.
  test('ends although the signal was lost', async () => {
    const runId = await asks(tenant, COLOUR);
    const page = await askedOn(service, tenant, runId);
    const { miniapps, stores } = service.services;
    // As the service does it, up to the signal.
    expect(
      await stores.miniapps.recordSubmission(
        { customerId: tenant.caller.customerId, pageId: page.id },
        '{"answer":"blue"}',
        BY_PAGE,
      ),
    ).toMatchObject({
      waits: [expect.stringContaining(runId)],
    });
    const untold = () =>
      service.runtime.db.rows(sql`select 1 from miniapp_pages where id = ${page.id} and waits <> '{}'`);
    await miniapps.tellUntold(UNHURRIED);
    expect(await untold()).toHaveLength(1);
    await service.runtime.db.rows(
      sql`update miniapp_pages set submitted_at = now() - interval '1 minute' where id = ${page.id}`,
    );
    expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(await untold()).toEqual([]);
  });

  // Guards: the history contains neither question, answer nor address, and no activity waits.
  test('is a timer in a history without content', async () => {
    const runId = await asks(tenant, { question: 'canary-question' });
    const page = await askedOn(service, tenant, runId);
    const handle = service.runtime.temporal.client.workflow.getHandle(runWorkflowId(runId));
    const pending = await eventually(async () => {
      const { raw } = await handle.describe();
      const history = await handle.fetchHistory();
      if (!present(history.events).some(({ timerStartedEventAttributes: timer }) => timer))
        throw new Error('no timer yet');
      return raw.pendingActivities ?? [];
    });
    expect(pending).toEqual([]);
    await send(page, '{"answer":"canary-answer"}');
    await tenant.waitForRun(runId);
    const { temporal } = service.runtime;
    const history = (await readHistories(temporal, service.runtime.config.TASK_QUEUE_PREFIX)).get(runWorkflowId(runId));
    expect(history).toContain(page.id);
    for (const secret of ['canary-question', 'canary-answer', page.token]) expect(history).not.toContain(secret);
  });
});
