/** The inbox: that everything which waits is in it and nothing else, and that an answer there is what it says and counts once. */
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import {
  agentStep,
  artifactsOf,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectOf,
  reviewStep,
  startProject,
  stepOf,
  tasksOf,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { inboxFaults } from '../../support/database/inbox-oracle.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';
import { asks, ASKER_AGENT, answer, detailOf, openWaits, untilWait } from './waits.ts';

/** Of many people on one wait, at once. */
const ANSWERS = sized(20, 60);

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_inbox');
  await acme.cp('POST', '/v1/agents', ASKER_AGENT);
  const gated = (kind: 'human' | 'webhook', config: Record<string, unknown>) => [
    phaseSpec('plot', [agentStep('outline')]),
    phaseSpec('text', [agentStep('write'), gateStep('gate', kind, config), agentStep('polish')], {
      depends_on: ['plot'],
    }),
  ];
  await makeTemplate(acme, 'human', gated('human', { prompt: 'Is it good?\nLook at every line.' }));
  await makeTemplate(acme, 'rework', gated('human', { on_reject: 'rework' }));
  await makeTemplate(acme, 'webhook', gated('webhook', { prompt: 'The build of CI', expires_in_s: 3_600 }));
  await makeTemplate(acme, 'failing', [
    phaseSpec('text', [
      agentStep('write', { max_attempts: 1 }),
      reviewStep('check', { instructions: '[[reject: dull]] Review the work.' }),
    ]),
  ]);
});
afterAll(() => service?.close());
// Guards, after each of them: the inbox has what waits, all of it and nothing else.
afterEach(async () => expect(await inboxFaults(service.runtime.db)).toEqual([]));

describe('a gate', () => {
  // Guards: inbox.get: whoever looks has what it takes to decide, and what each answer leads to.
  test('is shown with what is needed to decide', async () => {
    const id = await startProject(acme, 'human');
    const gate = await untilGate(acme, id, 'text', 'gate');
    const [wait] = await openWaits(acme, { project_id: id });
    expect(wait).toMatchObject({
      kind: 'gate',
      status: 'open',
      revision: 1,
      title: 'Is it good?',
      answers: ['approve', 'reject'],
      project_id: id,
      workflow_slug: 'human',
      phase_slug: 'text',
      step_slug: 'gate',
      subtask_id: gate.subtaskId,
      gate_kind: 'human',
      pause_reason: null,
      due_at: null,
      overdue: false,
      settled_at: null,
      answer: null,
    });
    const [plot] = await artifactsOf(acme, id);
    expect(await detailOf(acme, present(wait).id)).toMatchObject({
      prompt: 'Is it good?\nLook at every line.',
      choices: [
        { answer: 'approve', takes: ['comment'] },
        { answer: 'reject', takes: ['comment'], cost_estimate_usd: '0' },
      ],
      artifacts: [{ id: plot.id, phase_slug: 'plot', version: 1, stale: false }],
      work: [{ step_slug: 'write', role: 'producer', output: expect.any(String), is_cut: false }],
      votes: [],
      reviews: [],
      decisions: [],
      plan: null,
      question: null,
      failures: [],
      awaits: null,
    });
    await gate.approve();
    await untilProject(acme, id, 'completed');
  });

  // Guards: inbox.answer: an answer in the inbox is the gate's, in the name of whoever gave it.
  test('is answered', async () => {
    const id = await startProject(acme, 'human');
    const wait = await untilWait(acme, { project_id: id });
    const { status, body } = await answer(acme, wait, { answer: 'approve', comment: 'Fine' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        status: 'settled',
        answer: 'approve',
        settled_by: acme.caller.actor,
        settled_via: 'inbox',
        comment: 'Fine',
        answers: [],
        choices: [],
      },
    });
    expect(await stepOf(acme, id, 'text', 'gate')).toMatchObject({
      gate_output: { decision: 'approved', decided_by: acme.caller.actor, comment: 'Fine' },
    });
    await untilProject(acme, id, 'completed');
  });

  // Guards: of many answers one has an effect; each other hears who was faster, when, and with what.
  test('is answered once', async () => {
    const id = await startProject(acme, 'human');
    const wait = await untilWait(acme, { project_id: id });
    const answers = await Promise.all(
      Array.from({ length: ANSWERS }, (_, n) => answer(acme, wait, { answer: n % 2 === 0 ? 'approve' : 'reject' })),
    );
    tried('answers to one wait', ANSWERS);
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const said = itemAt(won, 0).body.answer;
    for (const { status, body } of answers.filter((each) => each !== won[0])) {
      expect({ status, body }).toMatchObject({
        status: 409,
        body: {
          detail: {
            code: 'already_answered',
            answer: said,
            answered_by: acme.caller.actor,
            answered_via: 'inbox',
            answered_at: expect.stringMatching(/^\d{4}-.*Z$/),
          },
        },
      });
    }
    const { gate_output } = await stepOf(acme, id, 'text', 'gate');
    expect(gate_output.decision).toBe(said === 'approve' ? 'approved' : 'rejected');
    await untilProject(acme, id, said === 'approve' ? 'completed' : 'paused');
  });

  // Guards: the documented route and the inbox are one way in: what one has decided the other one knows.
  test('that was resolved by its own route is answered', async () => {
    const id = await startProject(acme, 'human');
    const wait = await untilWait(acme, { project_id: id });
    expect(await (await untilGate(acme, id, 'text', 'gate')).reject('No')).toMatchObject({ status: 200 });
    expect(await answer(acme, wait, { answer: 'approve' })).toMatchObject({
      status: 409,
      body: { detail: { code: 'already_answered', answer: 'reject', answered_via: 'elsewhere', comment: 'No' } },
    });
    await untilProject(acme, id, 'paused');
  });

  // Guards: what somebody decides on is what is there: another version of what the gate is about is another revision.
  test('whose artifact has changed is not decided on as it was', async () => {
    const id = await startProject(acme, 'human');
    const wait = await untilWait(acme, { project_id: id });
    const retriggered = await command(acme, id, 'phases/plot/retrigger', { cascade: 'none' });
    expect(retriggered).toMatchObject({ status: 200 });
    await eventually(async () => expect(await artifactsOf(acme, id)).toMatchObject([{ version: 2 }]));
    const refused = await answer(acme, wait, { answer: 'approve' });
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: { code: 'changed_since', wait_id: wait.id, revision: 2 } },
    });
    expect(await stepOf(acme, id, 'text', 'gate')).toMatchObject({ status: 'blocked' });
    const again = await answer(acme, { ...wait, revision: 2 }, { answer: 'approve' });
    expect(again).toMatchObject({ status: 200, body: { answer: 'approve' } });
  });

  // Guards: work that was done again is asked about anew, with what was decided before; an answer to the old is none.
  test('that sends the work back asks anew', async () => {
    const id = await startProject(acme, 'rework');
    const first = await untilWait(acme, { project_id: id });
    expect(await answer(acme, first, { answer: 'reject', comment: 'More salt' })).toMatchObject({ status: 200 });
    const second = await untilWait(acme, { project_id: id });
    expect(second).toMatchObject({ revision: 2 });
    expect(second.id).not.toBe(first.id);
    expect(await detailOf(acme, second.id)).toMatchObject({
      decisions: [{ answer: 'reject', comment: 'More salt', by: acme.caller.actor, via: 'inbox', revision: 1 }],
      reviews: [{ feedback: 'More salt' }],
      work: [{ step_slug: 'write', attempt_number: 2 }],
    });
    expect(await answer(acme, first, { answer: 'approve' })).toMatchObject({
      status: 409,
      body: { detail: { code: 'already_answered', answer: 'reject' } },
    });
    expect(await answer(acme, second, { answer: 'approve' })).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });

  // Guards: a wait whose subject is gone says so, and takes no answer.
  test('goes with its project', async () => {
    const id = await startProject(acme, 'human');
    const wait = await untilWait(acme, { project_id: id });
    await command(acme, id, 'abandon');
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'settled', answer: null, settled_by: null });
    expect(await answer(acme, wait, { answer: 'approve' })).toMatchObject({
      status: 409,
      body: { detail: { code: 'changed_since', wait_id: null, revision: null } },
    });
  });
});

describe('a webhook gate', () => {
  // Guards: a person may answer for the system that is awaited; a signal of that system is in the inbox as its own.
  test('is answered by a person, or by whom it awaits', async () => {
    const one = await startProject(acme, 'webhook');
    const wait = await untilWait(acme, { project_id: one });
    expect(await detailOf(acme, wait.id)).toMatchObject({
      kind: 'webhook_gate',
      awaits: 'The build of CI',
      due_at: expect.any(String),
      on_timeout: 'It is rejected.',
    });
    expect(await answer(acme, wait, { answer: 'approve' })).toMatchObject({ status: 200 });
    await untilProject(acme, one, 'completed');

    const other = await startProject(acme, 'webhook');
    const { id, subtask_id } = await untilWait(acme, { project_id: other });
    const handle = service.runtime.temporal.client.workflow.getHandle(`project-${other}`);
    await handle.signal('resolveGate', { subtask_id, decision: 'approved', decided_by: 'ci' });
    await untilProject(acme, other, 'completed');
    expect(await detailOf(acme, id)).toMatchObject({ answer: 'approve', settled_by: 'ci', settled_via: 'signal' });
  });
});

describe('a project that paused itself', () => {
  // Guards: what stopped it is shown; the answer has the failed steps tried again, in one go with the project.
  test('is retried, or abandoned', async () => {
    const id = await startProject(acme, 'failing');
    const wait = await untilWait(acme, { project_id: id });
    expect(await detailOf(acme, wait.id)).toMatchObject({
      kind: 'paused',
      pause_reason: 'subtask_failed',
      answers: ['retry', 'resume', 'abandon'],
      failures: [{ phase_slug: 'text', step_slug: 'write', error: expect.any(String), outcome_unknown: false }],
    });
    await untilProject(acme, id, 'paused');
    expect(await answer(acme, wait, { answer: 'retry' })).toMatchObject({ status: 200, body: { answer: 'retry' } });
    const again = await untilWait(acme, { project_id: id });
    expect(again).toMatchObject({ revision: 2, pause_reason: 'subtask_failed' });
    expect((await stepOf(acme, id, 'text', 'write')).status).toBe('failed');
    expect(await answer(acme, again, { answer: 'abandon' })).toMatchObject({ status: 200 });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'abandoned' });
  });

  // Guards: money that ran out is given in the answer, once, and the project goes on with it.
  test('for want of money is given more', async () => {
    const id = await startProject(acme, 'human', { cost_budget_usd: '0.000001' });
    const wait = await untilWait(acme, { project_id: id });
    expect(await detailOf(acme, wait.id)).toMatchObject({
      pause_reason: 'budget_breached',
      answers: ['raise_budget', 'resume', 'abandon'],
      budgets: [{ of: 'project', budget_usd: '0.000001' }],
    });
    expect(await answer(acme, wait, { answer: 'raise_budget' })).toMatchObject({ status: 400 });
    const raise = { answer: 'raise_budget', raise_by_usd: '5' };
    const answers = await Promise.all([answer(acme, wait, raise), answer(acme, wait, raise)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await projectOf(acme, id)).toMatchObject({ cost_budget_usd: '5.000001' });
    await untilGate(acme, id, 'text', 'gate');
  });

  // Guards: the budget that stopped it is raised, and no other: whoever gives a phase more has not given it to all.
  test('for want of money of one phase is given it there', async () => {
    await makeTemplate(acme, 'budgeted', [
      phaseSpec('poor', [agentStep('write')], { cost_budget_usd: '0.000001' }),
      phaseSpec('rich', [agentStep('write')], { cost_budget_usd: '7', depends_on: ['poor'] }),
    ]);
    const id = await startProject(acme, 'budgeted', { cost_budget_usd: '9' });
    const wait = await untilWait(acme, { project_id: id });
    expect(await answer(acme, wait, { answer: 'raise_budget', raise_by_usd: '5' })).toMatchObject({ status: 200 });
    expect(await projectOf(acme, id)).toMatchObject({ cost_budget_usd: '9' });
    expect(await tasksOf(acme, id)).toMatchObject([{ cost_budget_usd: '5.000001' }, { cost_budget_usd: '7' }]);
    await untilProject(acme, id, 'completed');
  });

  // Guards: what a person paused waits for nobody.
  test('is not one that a person paused', async () => {
    const id = await startProject(acme, 'human');
    await untilGate(acme, id, 'text', 'gate');
    await command(acme, id, 'pause');
    expect((await openWaits(acme, { project_id: id })).map(({ kind }) => kind)).toEqual(['gate']);
  });
});

describe('the plan of an edit session', () => {
  // Guards: it is shown as what it would do, and answered as its own route does.
  test('is applied or turned down', async () => {
    const id = await startProject(acme, 'human');
    await (await untilGate(acme, id, 'text', 'gate')).approve();
    await untilProject(acme, id, 'completed');
    await command(acme, id, 'edit-sessions', { instruction: 'Shorter.' });
    const wait = await untilWait(acme, { project_id: id, kind: 'plan' });
    expect(await detailOf(acme, wait.id)).toMatchObject({
      answers: ['apply', 'request_changes', 'reject'],
      plan: { summary: expect.any(String), actions: expect.any(Array) },
    });
    expect(await answer(acme, wait, { answer: 'request_changes' })).toMatchObject({ status: 400 });
    const changes = { answer: 'request_changes', comment: 'Less' };
    expect(await answer(acme, wait, changes)).toMatchObject({ status: 200, body: { answer: 'request_changes' } });
    const again = await untilWait(acme, { project_id: id, kind: 'plan' });
    expect(await answer(acme, again, { answer: 'reject' })).toMatchObject({ status: 200, body: { answer: 'reject' } });
    await untilProject(acme, id, 'completed');
  });
});

describe('a question', () => {
  // Guards: what a run asks is answered without its page, and the page then takes no other answer.
  test('is answered in the inbox', async () => {
    const runId = await asks(acme, 'Which colour?', ['red', 'blue']);
    const wait = await untilWait(acme, { run_id: runId });
    expect(await detailOf(acme, wait.id)).toMatchObject({
      kind: 'question',
      title: 'Which colour?',
      agent: ASKER_AGENT.slug,
      expires_at: expect.any(String),
      question: { question: 'Which colour?', options: ['red', 'blue'], tool: 'ask_human' },
    });
    expect(await answer(acme, wait, { answer: 'submit' })).toMatchObject({ status: 400 });
    const sent = await answer(acme, wait, { answer: 'submit', data: { answer: 'blue' } });
    expect(sent).toMatchObject({ status: 200, body: { settled_by: acme.caller.actor, settled_via: 'inbox' } });
    expect(await acme.waitForRun(runId)).toMatchObject({
      status: 'succeeded',
      output: expect.stringContaining('blue'),
    });
  });

  // Guards: what nobody answers in time is closed, and among what is over, when it was.
  test('is closed when its time is over', async () => {
    const runId = await asks(acme, 'Anybody?');
    const wait = await untilWait(acme, { run_id: runId });
    const { db } = service.runtime;
    await db.rows(sql`update miniapp_pages set expires_at = now() where run_id = ${runId}`);
    await db.rows(sql`update waits set expires_at = now() where id = ${wait.id}::uuid`);
    expect(await openWaits(acme, { run_id: runId, status: 'settled' })).toEqual([]);
    await service.services.miniapps.tellUntold(UNHURRIED);
    expect(await openWaits(acme, { run_id: runId, status: 'settled' })).toMatchObject([
      { id: wait.id, answer: null, settled_by: null, settled_at: expect.any(String) },
    ]);
    await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  });

  // Guards: a question goes with the run that asks it.
  test('goes with its run', async () => {
    const runId = await asks(acme, 'Still there?');
    const wait = await untilWait(acme, { run_id: runId });
    await acme.cp('POST', `/v1/runs/${runId}/cancel`);
    await acme.waitForRun(runId);
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'settled', answer: null });
  });
});

describe('the list', () => {
  // Guards: pages cover every wait once, in order, whatever is answered in between; the counts are of all of them.
  test('is read a page at a time', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => startProject(acme, 'human')));
    for (const id of ids) await untilWait(acme, { project_id: id });
    const read = async (query: string) => (await acme.cp('GET', `/v1/inbox?${query}`)).body;
    const all = await read('limit=200');
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { data, meta } = await read(`limit=2${cursor}`);
      seen.push(...data.map((each: { id: string }) => each.id));
      if (meta.next_cursor === null) break;
      cursor = `&cursor=${meta.next_cursor}`;
    }
    expect(seen).toEqual(all.data.map((each: { id: string }) => each.id));
    expect(all.meta.open).toBe(all.data.length);
    expect(await acme.cp('GET', '/v1/inbox?cursor=nonsense')).toMatchObject({ status: 400 });
    for (const { id, revision, answers } of all.data as { id: string; revision: number; answers: string[] }[]) {
      if (answers.includes('approve')) await answer(acme, { id, revision }, { answer: 'approve' });
    }
    const settled = await read('status=settled&limit=200');
    expect(settled.data.length).toBeGreaterThanOrEqual(5);
    expect(settled.meta.open).toBeLessThan(all.meta.open);
  });
});
