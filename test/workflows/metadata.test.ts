/** What the Temporal Web UI says of a workflow ("User Metadata"): at each of its waits, and after its end. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { lockProject, pauseLocked } from '../../src/resources/projects/store/record.ts';
import { phaseWorkflowId, projectWorkflowId } from '../../src/resources/projects/model.ts';
import { PROJECT, type ProjectInput } from '../../workflows/project/messages.ts';
import type { project } from '../../workflows/project/workflow.ts';
import type { PhaseSpec, StepSpec } from '../../src/resources/templates/model.ts';
import { answer, openWaits, untilWait } from '../resources/inbox/waits.ts';
import { PLACES } from './long-waits/waits.ts';
import { untilMetadataAgrees } from './project-waits.ts';
import {
  actionStep,
  agentStep,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  stepOf,
  untilProject,
  untilStep,
} from '../support/fixtures/projects.ts';
import { childOf, dispatch, rowOf, tool, untilStatus } from '../support/fixtures/runs.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { confirmed } from '../support/service/otp.ts';

let service: TestService;
let receiver: WebhookReceiver;
let acme: Tenant;
const visited = new Set<string>();

beforeAll(async () => {
  receiver = await startWebhookReceiver(({ path }) => (path === '/lost' ? 'reset' : 200));
  service = await startTestService({ env: { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' } });
  acme = await service.tenant('acc_acme');
  const agent = { model: 'offline', prompt: 'You work.', allowed_tool_slugs: ['http_request', 'ask_human'] };
  for (const more of [{ slug: 'careful', on_lost_effect: 'ask' }, { slug: 'asker' }]) {
    expect((await acme.cp('POST', '/v1/agents', { ...agent, ...more })).status).toBe(201);
  }
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const client = () => service.runtime.temporal.client.workflow;

/** @returns what is said of the latest execution with this id */
async function detailsOf(workflowId: string): Promise<string> {
  visited.add(workflowId);
  const told = await client().getHandle(workflowId).query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return told.currentDetails ?? '';
}
const untilTold = (workflowId: string, ...texts: (string | RegExp)[]) =>
  eventually(async () => {
    const details = await detailsOf(workflowId);
    for (const text of texts)
      expect(details).toEqual(expect.stringMatching(text instanceof RegExp ? text : literal(text)));
    return details;
  });
const literal = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));

const untilAgreed = (id: string, phases: string[], start = 1) =>
  untilMetadataAgrees(acme, id, { phases, start, detailsOf });

let made = 0;
async function begin(steps: StepSpec[], more: Record<string, unknown> = {}): Promise<string> {
  const name = `scene-${++made}`;
  const phases: PhaseSpec[] = [phaseSpec('text', steps)];
  await makeTemplate(acme, name, phases);
  return startProject(acme, name, more);
}
const atGate = (id: string) => untilStep(acme, id, 'text', 'gate', 'blocked');

// Guards against: "write running, review pending, gate pending" while a person was waited for, and "running" after the end.
test.each(['human', 'webhook'] as const)('a gate of the kind %s, and how to answer it', async (kind) => {
  const config = kind === 'webhook' ? { expires_in_s: 3_600 } : { quorum: 1 };
  const id = await begin([agentStep('write'), gateStep('gate', kind, config), agentStep('then')]);
  const { id: subtask_id } = await atGate(id);
  const told = await untilAgreed(id, ['text']);
  expect(told).toContain(kind === 'webhook' ? 'gate webhook (until 2' : 'gate human (1 approvals)');
  expect(told).toContain(`\`aos project approve ${id} text/gate\``);
  // The signal is sent as it stands there.
  const [, name, workflowId, payload] = present(/signal `(\w+)` to `([^`]+)`: `([^`]+)`/.exec(told));
  const sent: { subtask_id: string } = JSON.parse(present(payload));
  expect(sent.subtask_id).toBe(subtask_id);
  await client().getHandle(present(workflowId)).signal(present(name), sent);
  await untilProject(acme, id, 'completed');
  expect(await untilAgreed(id, ['text'])).toContain('Ended: **succeeded**');
});

test('a gate that waits for a time, and one that waits for another project', async () => {
  const first = await begin([gateStep('gate', 'schedule', { delay_s: 3_600 })]);
  await atGate(first);
  expect(await untilAgreed(first, ['text'])).toContain('gate schedule (until 2');
  const second = await begin([gateStep('gate', 'pipeline_dep', { project_id: first })]);
  await atGate(second);
  expect(await untilAgreed(second, ['text'])).toContain('gate pipeline_dep (project');
  for (const id of [second, first]) {
    await command(acme, id, 'abandon');
    await untilTold(phaseWorkflowId(id, 'text', 1), /^Over: /);
    await untilAgreed(id, []);
    expect(await detailsOf(projectWorkflowId(id))).not.toContain('waits for');
  }
});

test('a rejected gate, and one that is asked again after its work was sent back', async () => {
  const id = await begin([agentStep('write'), gateStep('gate', 'human', { on_reject: 'rework' })]);
  const before = await atGate(id);
  const reject = () => command(acme, id, `subtasks/${before.id}/resolve-gate`, { decision: 'rejected' });
  await reject();
  await eventually(async () => expect((await atGate(id)).started_at).not.toBe(before.started_at));
  await untilAgreed(id, ['text']);

  const failing = await begin([gateStep('gate')]);
  const { id: gate } = await atGate(failing);
  await command(acme, failing, `subtasks/${gate}/resolve-gate`, { decision: 'rejected' });
  await untilProject(acme, failing, 'paused');
  const told = await untilAgreed(failing, ['text']);
  expect(told).toContain('Ended: **failed**');
  expect(told).toContain(`\`aos project resume ${failing}\``);
});

test('a pause, and a budget that is used up', async () => {
  const paused = await begin([agentStep('write', { instructions: '[[sleep:1000]]' }), agentStep('then')]);
  await untilStep(acme, paused, 'text', 'write', 'running');
  await command(acme, paused, 'pause');
  await untilStep(acme, paused, 'text', 'write', 'succeeded');
  await untilTold(phaseWorkflowId(paused, 'text', 1), '`then` waits: the project is paused (requested), since 2');
  expect(await untilAgreed(paused, ['text'])).toContain(`\`aos project resume ${paused}\``);
  await command(acme, paused, 'resume');
  await untilProject(acme, paused, 'completed');
  expect(await untilAgreed(paused, ['text'])).not.toContain('paused');

  const poor = await begin([agentStep('write')], { cost_budget_usd: '0.00000001' });
  await untilProject(acme, poor, 'paused');
  await untilTold(phaseWorkflowId(poor, 'text', 1), '`write` waits: the project is paused (budget_breached)');
  expect(await detailsOf(phaseWorkflowId(poor, 'text', 1))).toContain(`\`aos inbox --project ${poor}\``);
  const told = await untilAgreed(poor, ['text']);
  expect(told).toContain('- the project is paused (budget_breached)');
  await acme.cp('PATCH', `/v1/projects/${poor}`, { cost_budget_usd: null });
  await command(acme, poor, 'resume');
  await untilProject(acme, poor, 'completed');
  await untilAgreed(poor, ['text']);
});

// Guards against: `active` in the metadata of a project that a budget stopped inside one of several phases.
test('phases beside each other and a budget, and a project that goes on or ends', async () => {
  const name = `scene-${++made}`;
  const slow = agentStep('write', { instructions: '[[sleep:1500]]' });
  const phases = [phaseSpec('text', [gateStep('gate')]), phaseSpec('left', [slow, agentStep('then')])];
  await makeTemplate(acme, name, [
    ...phases,
    phaseSpec('right', [agentStep('begin')], { cost_budget_usd: '0.00000001' }),
  ]);
  const [first, second] = [await startProject(acme, name), await startProject(acme, name)];
  for (const id of [first, second]) {
    await untilProject(acme, id, 'paused');
    await untilStep(acme, id, 'left', 'write', 'succeeded');
    await atGate(id);
    expect(await untilAgreed(id, ['text', 'left', 'right'])).toContain('`left` waits for the project to go on');
  }
  // This one step runs, and the phase waits again.
  expect((await command(acme, first, 'run-step')).status).toBe(200);
  await untilStep(acme, first, 'left', 'then', 'succeeded');
  await untilAgreed(first, ['text', 'right']);
  await command(acme, second, 'abandon');
  for (const phase of ['left', 'right']) await untilTold(phaseWorkflowId(second, phase, 1), /^Over: /);
  await untilAgreed(second, []);
  expect(await detailsOf(projectWorkflowId(second))).not.toContain('waits');
});

test('a project that continues as new while phases wait', async () => {
  const name = `scene-${++made}`;
  const poor = phaseSpec('poor', [agentStep('begin')], { cost_budget_usd: '0.00000001' });
  await makeTemplate(acme, name, [phaseSpec('text', [gateStep('gate')]), poor]);
  const id = await startProject(acme, name);
  const workflowId = projectWorkflowId(id);
  const { taskQueue } = await client().getHandle(workflowId).describe();
  await client().getHandle(workflowId).terminate('to be started with another input');
  const board = present(await service.services.stores.projects.loadBoard(id));
  const input: ProjectInput = { ...board, limits: { maxTurns: 50, maxTokens: 1_000_000 }, split: false };
  const args: [ProjectInput] = [{ ...input, continueAfterEvents: 60 }];
  const { firstExecutionRunId } = await client().start<typeof project>(PROJECT, { workflowId, taskQueue, args });
  await atGate(id);
  await untilTold(workflowId, '(budget_breached)', '`poor` waits for the project to go on');
  // Its phases tell nothing again.
  await eventually(async () => {
    if ((await client().getHandle(workflowId).describe()).runId !== firstExecutionRunId) return;
    await command(acme, id, 'pause');
    throw new Error('it has not continued as new');
  });
  const { iteration } = present((await service.services.stores.projects.loadBoard(id))?.phases[0]);
  expect(await untilAgreed(id, ['text', 'poor'], iteration)).toContain('the project is paused (requested)');
  await command(acme, id, 'abandon');
});

test('a pause of which a project was not told, and a phase that could not open', async () => {
  const name = `scene-${++made}`;
  const after = phaseSpec('after', [agentStep('write')], { depends_on: ['text'] });
  await makeTemplate(acme, name, [phaseSpec('text', [gateStep('gate')]), after]);
  const id = await startProject(acme, name);
  const { id: gate } = await atGate(id);
  await untilAgreed(id, ['text']);
  await service.runtime.db.transaction(async () => {
    const project = await lockProject(service.runtime.db, id);
    await pauseLocked(service.runtime.db, project, 'budget_breached');
  });
  await command(acme, id, `subtasks/${gate}/resolve-gate`, { decision: 'approved' });
  await untilTold(projectWorkflowId(id), '- `after` waits for the project to go on\n', '| · after | pending |');
  await untilAgreed(id, ['text']);
  await command(acme, id, 'pause');
  await untilTold(projectWorkflowId(id), 'the project is paused (requested)');
  await untilAgreed(id, ['text']);
  await command(acme, id, 'resume');
  await untilProject(acme, id, 'completed');
  await untilAgreed(id, ['text', 'after']);
});

test('runs of steps that ask a person, beside a step that paused the project', async () => {
  const post = tool('http_request', { method: 'POST', url: `http://${receiver.hostAndPort}/lost`, body: '{}' });
  const ask = tool('ask_human', { question: 'Which?' });
  const step = (slug: string, assignee: string, instructions: string, more = {}) =>
    agentStep(slug, { assignee, instructions, depends_on: [], max_attempts: 1, ...more });
  const id = await begin([
    step('post', 'careful', post, { tools: ['http_request'] }),
    step('ask', 'asker', ask, { tools: ['ask_human'], timeout_s: 6 }),
    step('leave', 'assistant', tool('spawn_run', { agent: 'asker', prompt: ask, wait: true }), {
      tools: ['spawn_run'],
    }),
  ]);
  const untilOpen = (kinds: string[]) =>
    eventually(async () => {
      const waits = await openWaits(acme, { project_id: id });
      expect(waits.map(({ kind }) => kind).toSorted()).toEqual(kinds);
      await untilAgreed(id, ['text']);
      return waits;
    });
  await untilOpen(['paused', 'question', 'question']);
  await untilStep(acme, id, 'text', 'ask', 'failed');
  const waits = await untilOpen(['paused', 'question']);
  const { run_id } = present(waits.find(({ kind }) => kind === 'question'));
  expect((await acme.cp('POST', `/v1/runs/${run_id}/cancel`)).status).toBe(200);
  await untilOpen(['paused']);
});

test('a gate whose time is over, and that stays open', async () => {
  const id = await begin([gateStep('gate', 'human', { due_in_s: 1, on_timeout: 'pause' })]);
  await untilProject(acme, id, 'paused');
  expect(await untilAgreed(id, ['text'])).toContain('the project is paused (gate_expired)');
});

test('a step at work, its time limit, and a provider that limits the rate', async () => {
  const id = await begin([agentStep('write', { timeout_s: 3_600, instructions: '[[fail-status:429]]' })]);
  await untilStep(acme, id, 'text', 'write', 'running');
  const told = await untilTold(
    phaseWorkflowId(id, 'text', 1),
    /`write` waits for run `\w+` of `writer`, 3600 s at most, since 2/,
  );
  const [, runId] = present(/for run `(\w+)`/.exec(told));
  await untilAgreed(id, ['text']);
  await eventually(async () => {
    const { raw } = await client().getHandle(`run-${runId}`).describe();
    expect(raw.pendingActivities?.[0]?.attempt).toBeGreaterThan(1);
  });
  expect(await detailsOf(`run-${runId}`)).toContain('Turn 1: the model is asked. Pending activities say how often');
  expect(await timersOf(phaseWorkflowId(id, 'text', 1))).toEqual(['time limit of write']);
  await command(acme, id, 'abandon');
  await untilTold(`run-${runId}`, 'Ended: **cancelled**');
});

test('steps that failed', async () => {
  const id = await begin([agentStep('write', { max_attempts: 2, instructions: '[[fail-status:400]]' })]);
  await untilProject(acme, id, 'paused');
  expect(await untilAgreed(id, ['text'])).toContain('Ended: **failed**');
  const { child_run_id: runId } = present((await triesOf(id)).at(-1));
  await untilTold(`run-${runId}`, /^Ended: \*\*failed\*\* \(\w+\)/);
  const action = await begin([agentStep('write'), actionStep('send', 'http_post', { max_attempts: 1 })]);
  await untilProject(acme, action, 'paused');
  await untilAgreed(action, ['text']);
});
const triesOf = async (id: string): Promise<{ child_run_id: string }[]> => {
  const { id: subtaskId } = await stepOf(acme, id, 'text', 'write');
  return (await acme.cp('GET', `/v1/projects/${id}/subtasks/${subtaskId}/attempts`)).body.data;
};

test('a plan', async () => {
  const id = await begin([agentStep('write')]);
  await untilProject(acme, id, 'completed');
  const { body } = await command(acme, id, 'edit-sessions', { instruction: 'Shorter' });
  await untilStep(acme, id, 'edit-session-1', 'approve_plan', 'blocked');
  expect(await untilAgreed(id, ['text', 'edit-session-1'])).toContain('edit-session-1/approve_plan');
  await command(acme, id, `edit-sessions/${body.task_id}/approve`, { decision: 'rejected' });
  await untilProject(acme, id, 'completed');
  await untilAgreed(id, ['text']);
});

test('what runs wait for', async () => {
  const post = tool('http_request', { method: 'POST', url: `http://${receiver.hostAndPort}/lost`, body: '{}' });
  const lost = await dispatch(acme, { agent: 'careful', prompt: post });
  const wait = await untilWait(acme, { run_id: lost });
  await untilTold(`run-${lost}`, 'whether `http_request` took effect, since 2', `\`aos inbox --run ${lost}\``);
  expect((await answer(acme, wait, { answer: 'done' })).status).toBe(200);
  await untilStatus(acme, lost, 'succeeded');

  const spawn = tool('spawn_run', { agent: 'asker', prompt: tool('ask_human', { question: 'Which?' }), wait: true });
  const parent = await dispatch(acme, { agent: 'assistant', prompt: spawn });
  const child = await childOf(acme, parent);
  await untilTold(`run-${parent}`, `waits for run \`${child}\`, which it started, since 2`);
  await untilTold(`run-${child}`, '`ask_human` waits for a person, since 2', `\`aos inbox --run ${child}\``);
  await acme.cp('POST', `/v1/runs/${child}/cancel`);
  await untilStatus(acme, parent, 'succeeded');

  const turn = { agent: 'assistant', thread_id: 'one' };
  const first = await dispatch(acme, { ...turn, prompt: '[[sleep:60000]]' });
  await untilStatus(acme, first, 'running');
  const next = await dispatch(acme, { ...turn, prompt: 'Hello' });
  await untilTold(`run-${next}`, `waits for run \`${first}\`, which goes first in the conversation, since 2`);
  await acme.cp('POST', `/v1/runs/${first}/cancel`);
  await untilStatus(acme, next, 'succeeded');
  for (const id of [lost, parent, child, first, next]) {
    const { last_status } = (await rowOf(acme, id)) as { last_status: string };
    await untilTold(`run-${id}`, `Ended: **${last_status}**`);
    expect(await detailsOf(`run-${id}`)).not.toContain('waits');
  }
});

test('deliveries, workspaces and archives after their end', async () => {
  const hook = { url: `http://${receiver.hostAndPort}/hook`, events: ['run.succeeded'] };
  expect((await acme.api('POST', '/v1/webhooks', hook)).status).toBe(201);
  await acme.run({ agent: 'writer', prompt: 'Write.' });
  const operator = await service.tenant('acc_internal');
  await operator.cp('POST', '/v1/workspaces', { identity_workspace_id: 'acc_made', plan: 'free' });
  expect((await confirmed(acme, 'POST', '/v1/workspaces/acc_acme/exports')).status).toBe(201);
  for (const [type, told] of [
    ['webhookDelivery', 'Ended: sent'],
    ['provisionWorkspace', 'Ended: **ready**'],
    ['exportWorkspace', 'Ended: **ready**'],
  ] as const) {
    const query = `WorkflowType = "${type}" AND TaskQueue STARTS_WITH "${service.runtime.config.TASK_QUEUE_PREFIX}"`;
    const workflowId = await eventually(async () => {
      for await (const { workflowId } of client().list({ query })) return workflowId;
      throw new Error(`no ${type} yet`);
    });
    await untilTold(workflowId, told);
  }
});

/** The summaries of all timers of a workflow. */
async function timersOf(workflowId: string): Promise<(string | undefined)[]> {
  const { events } = await client().getHandle(workflowId).fetchHistory();
  return present(events)
    .filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes)
    .map(({ userMetadata }) => {
      const data = userMetadata?.summary?.data;
      return data ? (JSON.parse(Buffer.from(data).toString('utf8')) as string) : undefined;
    });
}

// Guards: a timer in the Web UI says what it is for. The places are those of the code, which long-waits.test.ts holds.
test('every timer has a summary', async () => {
  const timed = Object.values(PLACES)
    .flatMap((places) => Object.keys(places))
    .filter((call) => /^sleep\(|^condition\((\(\) => )?[^,]+, /.test(call));
  expect(timed.length).toBeGreaterThan(8);
  for (const call of timed) expect(call).toMatch(/summary|\{$/);
  const timers = (await Promise.all([...visited].map(timersOf))).flat();
  expect(timers.length).toBeGreaterThan(3);
  expect(timers).not.toContain(undefined);
});
