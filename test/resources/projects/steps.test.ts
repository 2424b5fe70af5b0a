/** How steps run on the offline model: attempts, timeouts, actions, what an agent is told, what is told of it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { verifyWebhook } from '../../../src/resources/webhook-subscriptions/signature.ts';
import {
  actionStep,
  agentStep,
  artifactsOf,
  attemptsAt,
  command,
  contextOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  reviewStep,
  startProject,
  stepOf,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { eventsOf, tool } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { WEBHOOKS } from '../../../src/resources/webhook-subscriptions/events/contract.ts';

let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
  });
  tenant = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const statusOfRun = async (runId: string): Promise<string> =>
  (await tenant.cp('GET', `/v1/runs/${runId}/detail`)).body.status;

describe('an attempt that fails', () => {
  // Guards: a step is tried max_attempts times; then the step, its phase and its project stop, and the feed says so in
  // order.
  test('is repeated until none is left', async () => {
    await makeTemplate(tenant, 'failing', [
      phaseSpec('text', [agentStep('write', { instructions: 'Write. [[fail-status:400]]', max_attempts: 2 })]),
      phaseSpec('after', [agentStep('write')], { depends_on: ['text'] }),
    ]);
    const id = await startProject(tenant, 'failing');
    expect(await untilProject(tenant, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    await eventually(async () => expect(await phaseStatuses(tenant, id)).toEqual({ text: 'failed', after: 'pending' }));
    expect(await triesOf(tenant, id, 'text', 'write')).toEqual(['initial failed', 'auto_retry failed']);
    expect(await topicsOf(tenant, id)).toEqual([
      ...['project_started', 'task_started'],
      ...['subtask_attempt_started', 'subtask_retry_queued'],
      ...['subtask_attempt_started', 'subtask_failed', 'project_paused'],
    ]);
    const step = await stepOf(tenant, id, 'text', 'write');
    expect(step).toMatchObject({ status: 'failed', attempt_count: 2, error: expect.stringContaining('400') });

    // A person gives it another chance, with a hint; the project goes on when it is resumed.
    const retried = await command(tenant, id, `subtasks/${step.id}/retry?addendum_brief=Mind%20the%20crust`);
    expect(retried).toMatchObject({ status: 200, body: { attempt_reason: 'manual_retry', status: 'pending' } });
    await command(tenant, id, 'resume');
    expect(await untilProject(tenant, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    const third = itemAt(await attemptsAt(tenant, id, 'text', 'write'), 2);
    expect(await contextOf(tenant, third)).toContain('Mind the crust');
  });

  // Guards: a step that exceeds its time is stopped and tried again.
  test('is stopped when its time is over', async () => {
    await makeTemplate(tenant, 'slow', [
      phaseSpec('text', [
        agentStep('write', { instructions: 'Write. [[sleep:600000]]', timeout_s: 1, max_attempts: 2 }),
      ]),
    ]);
    const id = await startProject(tenant, 'slow');
    await untilProject(tenant, id, 'paused');
    const attempts = await attemptsAt(tenant, id, 'text', 'write');
    expect(attempts.map(({ attempt_reason }) => attempt_reason)).toEqual(['initial', 'auto_retry']);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({
        status: 'failed',
        error: "not done after 1 s, which is the step's timeout_s",
        duration_ms: expect.any(Number),
      });
      expect(attempt.duration_ms).toBeGreaterThanOrEqual(1_000);
      expect(await statusOfRun(attempt.child_run_id)).toBe('cancelled');
    }
    expect(await contextOf(tenant, itemAt(attempts, 1))).toContain('not done after 1 s');
  });

  // Guards: a run that a person cancels is not repeated; a person decides.
  test('is left to a person when its run was cancelled', async () => {
    await makeTemplate(tenant, 'cancelled', [
      phaseSpec('text', [agentStep('write', { instructions: 'Write. [[sleep:600000]]' })]),
    ]);
    const id = await startProject(tenant, 'cancelled');
    const run = await eventually(async () => {
      const attempt = itemAt(await attemptsAt(tenant, id, 'text', 'write'), 0);
      if ((await statusOfRun(attempt.child_run_id)) !== 'running') throw new Error('not running yet');
      return attempt.child_run_id;
    });
    expect(await tenant.cp('POST', `/v1/runs/${run}/cancel`)).toMatchObject({ status: 200 });
    expect(await untilProject(tenant, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    expect(await triesOf(tenant, id, 'text', 'write')).toEqual(['initial failed']);
    await command(tenant, id, 'abandon');
  });
});

describe('what a step works with', () => {
  // Guards: the agent gets the brief, the parameters, earlier artifacts and outputs, and only the tools of its step.
  // Its cost, with that of spawned runs, is on its attempt and adds up to the project's cost.
  test('is in its prompt', async () => {
    const spawn = tool('spawn_run', { agent: 'writer', prompt: 'One line on salt.' });
    await makeTemplate(
      tenant,
      'told',
      [
        phaseSpec('outline', [agentStep('plan', { instructions: 'Plan it in the OUTLINE-STYLE.' })]),
        phaseSpec('aside', [agentStep('note', { instructions: 'Note ASIDE-NOTES.' })]),
        phaseSpec(
          'article',
          [
            agentStep('draft', { instructions: `Draft in the DRAFT-STYLE. ${spawn}`, tools: ['spawn_run'] }),
            gateStep('approve', 'human', { on_reject: 'rework' }),
            agentStep('polish', { instructions: 'Polish it.', tools: ['current_time'] }),
          ],
          { depends_on: ['outline'] },
        ),
      ],
      { params: { type: 'object', required: ['tone'], properties: { tone: { type: 'string' } } } },
    );
    const id = await startProject(tenant, 'told', { brief: 'BRIEF-OF-BREAD', params: { tone: 'TONE-OF-VOICE' } });
    await (await untilGate(tenant, id, 'article', 'approve')).reject('MORE-CRUST');
    await (await untilGate(tenant, id, 'article', 'approve')).approve('NOW-GOOD');
    const project = await untilProject(tenant, id, 'completed');

    const [first, second] = await attemptsAt(tenant, id, 'article', 'draft');
    const told = await contextOf(tenant, present(first));
    for (const text of ['DRAFT-STYLE', 'BRIEF-OF-BREAD', '- tone: TONE-OF-VOICE', 'Upstream artifact: outline']) {
      expect(told).toContain(text);
    }
    const artifacts = await artifactsOf(tenant, id);
    expect(told).toContain(present(artifacts.find(({ phase_slug }) => phase_slug === 'outline')).content);
    expect(told).not.toContain('Upstream artifact: aside');
    expect(told).not.toContain('ASIDE-NOTES');
    expect(told).not.toContain('MORE-CRUST');
    expect(second).toMatchObject({ attempt_number: 2, attempt_reason: 'manual_rework', status: 'succeeded' });
    const toldAgain = await contextOf(tenant, present(second));
    for (const text of ['MORE-CRUST', 'Your earlier output', 'DRAFT-STYLE']) expect(toldAgain).toContain(text);
    const polish = itemAt(await attemptsAt(tenant, id, 'article', 'polish'), 0);
    const polishing = await contextOf(tenant, polish);
    for (const text of ['NOW-GOOD', 'output of step draft', present(second).output]) expect(polishing).toContain(text);

    const offered = async (runId: string) =>
      present((await eventsOf(tenant, runId)).find(({ event_type }) => event_type === 'context_loaded')).payload.tools;
    expect(await offered(present(first).child_run_id)).toEqual(['spawn_run']);
    expect(await offered(polish.child_run_id)).toEqual(['current_time']);

    const { body: detail } = await tenant.cp('GET', `/v1/runs/${present(first).child_run_id}/detail`);
    expect(detail).toMatchObject({ run_id: present(first).child_run_id, status: 'succeeded', agent: 'writer' });
    const [spent] = await service.runtime.db.rows(sql`
      select (select trim_scale(sum(cost_usd))::text from attempts where project_id = ${id}) as attempts,
        (select trim_scale(sum(cost_usd))::text from runs where attempt_id in (select id from attempts where project_id = ${id})) as runs,
        (select trim_scale(spent_usd)::text from budgets where id = ${`project:${id}`}) as project,
        (select trim_scale(sum(b.spent_usd))::text from budgets b join tasks t on b.id = 'task:' || t.id
          where t.project_id = ${id}) as tasks,
        (select count(*)::int from runs where parent_run_id = ${present(first).child_run_id}) as spawned`);
    const { cost_total_usd: total } = project;
    expect(spent).toEqual({ attempts: total, runs: total, project: total, tasks: total, spawned: 1 });
    expect(Number(total)).toBeGreaterThan(0);
    expect(await tenant.cp('GET', `/v1/projects/${id}/cost`)).toMatchObject({
      body: { total_usd: total, budget_usd: null, budget_burn: 0 },
    });
  });

  // Guards: an action is a step without a model; the artifact is an assembler's output, whichever step comes last.
  test('is put together by an action', async () => {
    await makeTemplate(tenant, 'assembled', [
      phaseSpec('book', [
        agentStep('left', { depends_on: [] }),
        agentStep('right', { depends_on: [] }),
        actionStep('join', 'assemble_markdown', { role: 'assembler', depends_on: ['left', 'right'] }),
        reviewStep('check'),
      ]),
    ]);
    const id = await startProject(tenant, 'assembled');
    await untilProject(tenant, id, 'completed');
    const join = await stepOf(tenant, id, 'book', 'join');
    const [attempt] = await attemptsAt(tenant, id, 'book', 'join');
    expect(attempt).toMatchObject({
      status: 'succeeded',
      child_run_id: null,
      cost_usd: '0',
      duration_ms: expect.any(Number),
    });
    const artifacts = await artifactsOf(tenant, id);
    expect(artifacts).toMatchObject([
      {
        phase_slug: 'book',
        version: 1,
        schema_slug: 'book/text',
        content: present(attempt).output,
        produced_via: 'initial',
        produced_by_subtask_id: join.id,
        produced_by_attempt_id: present(attempt).id,
        superseded: false,
        supersedes_artifact_id: null,
        superseded_by_artifact_id: null,
      },
    ]);
    const content = JSON.stringify(artifacts[0].content);
    for (const text of ['## Left', '## Right']) expect(content).toContain(text);
    const started = (await projectEventsOf(tenant, id)).filter(({ topic }) => topic === 'subtask_attempt_started');
    expect(started.map(({ actor_kind }) => actor_kind).sort()).toEqual(['action', 'agent', 'agent', 'agent']);
  });
});

// Guards: the ends of steps' runs send no webhooks; the end of the project sends one, signed.
test('one webhook tells of a project', async () => {
  const beta = await service.tenant('acc_beta');
  const { body: endpoint } = await beta.api('POST', '/v1/webhooks', { url: receiver.url });
  await makeTemplate(beta, 'announced', [
    phaseSpec('text', [
      agentStep('write', {
        tools: ['spawn_run'],
        instructions: tool('spawn_run', { agent: 'writer', prompt: 'Salt' }),
      }),
    ]),
    phaseSpec('more', [agentStep('write')]),
  ]);
  const id = await startProject(beta, 'announced');
  const project = await untilProject(beta, id, 'completed');
  const delivery = itemAt(
    await eventually(() => {
      expect(receiver.received).not.toHaveLength(0);
      return receiver.received;
    }),
    0,
  );
  const { body, signature, headers } = delivery;
  expect(verifyWebhook(endpoint.secret, signature, body)).toBe(true);
  expect(headers['x-service-event']).toBe('project.completed');
  expect(WEBHOOKS['project.completed'].body.parse(JSON.parse(body))).toEqual(JSON.parse(body));
  expect(WEBHOOKS['project.completed'].headers.safeParse(headers)).toMatchObject({ success: true });
  expect(JSON.parse(body)).toEqual({
    type: 'project.completed',
    created_at: expect.any(Number),
    data: {
      project_id: id,
      title: project.title,
      workflow_slug: 'announced',
      workflow_version: 1,
      status: 'completed',
      cost_total_usd: project.cost_total_usd,
      completed_at: project.completed_at,
    },
  });
  // The record of deliveries is written with the end of each run, so that there is no other says that none will come.
  const deliveries = await service.runtime.db.rows(sql`
    select event_type from webhook_deliveries where customer_id = ${beta.caller.customerId}`);
  expect(deliveries).toEqual([{ event_type: 'project.completed' }]);
  expect(await projectOf(beta, id)).toMatchObject({ status: 'completed' });
});
