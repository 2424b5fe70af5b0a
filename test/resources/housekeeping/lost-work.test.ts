/** Work that is under way by its rows and that Temporal does not have: replaced, restored, or ended there by hand. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
import { projectWorkflowId, phaseWorkflowId } from '../../../src/resources/projects/model.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { PROJECT, type ProjectInput } from '../../../workflows/project/messages.ts';
import {
  agentStep,
  attemptsAt,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  projectOf,
  startProject,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { dispatch, endsOf, eventsOf, tool, typesOf, untilStatus } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;
let mayAnswer = Promise.withResolvers<void>();
beforeAll(async () => {
  receiver = await startWebhookReceiver(async ({ path }) => {
    if (path.startsWith('/never')) return 'timeout';
    if (path.startsWith('/held')) await mayAnswer.promise;
    return { status: 200, body: path };
  });
  service = await startTestService({
    // Nothing is asked about by its age: each test says what is to be.
    env: {
      HOUSEKEEPING_INTERVAL: '1s',
      LOST_WORK_INTERVAL: '1h',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      WEBHOOK_ALLOW_HTTP: 'true',
    },
  });
  acme = await service.tenant('acc_acme');
  const hook = { url: `http://${receiver.hostAndPort}/hook`, events: ['*'] };
  expect((await acme.api('POST', '/v1/webhooks', hook)).status).toBe(201);
});
afterAll(async () => {
  mayAnswer.resolve();
  await service?.close();
  await receiver?.close();
});

const at = (path: string) => `http://${receiver.hostAndPort}/${path}`;
const get = (path: string) => tool('http_request', { url: at(path) });
const post = (path: string) => tool('http_request', { method: 'POST', url: at(path), body: '{}' });
const timesAt = (path: string) => receiver.received.filter((request) => request.path === `/${path}`).length;
const arrived = (path: string) => eventually(() => expect(timesAt(path)).toBe(1));
const held = () => (mayAnswer = Promise.withResolvers<void>());
/** What webhooks said of a run. */
const toldOf = (runId: string): string[] =>
  receiver.received
    .filter(({ path, body }) => path === '/hook' && body.includes(runId))
    .map(({ body }) => JSON.parse(body).type);

const client = () => service.runtime.temporal.client;
const terminate = (workflowId: string) => client().workflow.getHandle(workflowId).terminate('by an operator');
/** As after Temporal was set up anew. */
async function forget(...workflowIds: string[]): Promise<void> {
  const { namespace } = service.runtime.temporal;
  for (const workflowId of workflowIds) await terminate(workflowId).catch(() => {});
  // Children first: one whose parent is gone already is deleted only after its report to it was given up.
  for (const workflowId of workflowIds.toReversed()) {
    await eventually(async () => {
      const execution = { workflowId };
      await client()
        .workflowService.deleteWorkflowExecution({ namespace, workflowExecution: execution })
        .catch(() => {});
      await expect(client().workflow.getHandle(workflowId).describe()).rejects.toThrow(WorkflowNotFoundError);
    });
  }
}
const LONG_AGO = sql`now() - interval '2 hours'`;
const askAboutRuns = (...ids: string[]) =>
  service.runtime.db.rows(sql`update runs set checked_at = ${LONG_AGO} where id = any(${sql.param(ids)}::text[])`);
const askAboutProject = (id: string) =>
  service.runtime.db.rows(sql`update projects set checked_at = ${LONG_AGO} where id = ${id}`);
const untilAsked = (table: 'runs' | 'projects', id: string) =>
  eventually(async () => {
    const rows = await service.runtime.db.rows(sql`
      select 1 from ${sql.identifier(table)} where id = ${id} and checked_at > now() - interval '1 hour'`);
    expect(rows).toHaveLength(1);
  });

describe('a run', () => {
  // Guards: a run that Temporal has lost goes on from its recorded turns, ends once and is announced once.
  test('goes on from its record', async () => {
    held();
    const id = await dispatch(acme, { agent: 'assistant', prompt: `${get('done-1')} [[then]] ${get('held-1')}` });
    await arrived('held-1');
    await forget(runWorkflowId(id));
    mayAnswer.resolve();
    await askAboutRuns(id);
    expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    expect(timesAt('done-1')).toBe(1);
    const types = await typesOf(acme, id);
    expect(endsOf(types)).toEqual(['run_completed']);
    expect(types.filter((type) => type === 'claude_iteration')).toHaveLength(3);
    expect(types.filter((type) => type === 'tool_result')).toHaveLength(2);
    await eventually(() => expect(toldOf(id)).toEqual(['run.succeeded']));
  });

  // Guards: an effect that may have happened is not repeated, and the model is told that its outcome is unknown.
  test('does not repeat what is irreversible', async () => {
    const id = await dispatch(acme, { agent: 'assistant', prompt: post('never-2') });
    await arrived('never-2');
    await forget(runWorkflowId(id));
    await askAboutRuns(id);
    expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    expect(timesAt('never-2')).toBe(1);
    const result = (await eventsOf(acme, id)).find(({ event_type }) => event_type === 'tool_result');
    expect(result).toMatchObject({ status: 'failed', payload: { result_preview: expect.stringContaining('unknown') } });
  });

  // Guards: a lost spawned run is started again for its parent, which gets its one answer.
  test('comes back with the run that it waits for', async () => {
    const spawn = tool('spawn_run', { agent: 'writer', prompt: post('never-3') });
    const id = await dispatch(acme, { agent: 'assistant', prompt: spawn });
    await arrived('never-3');
    const started = first((await eventsOf(acme, id)).filter(({ event_type }) => event_type === 'agent_run_started'));
    const childId: string = started.payload['run_id'];
    await forget(runWorkflowId(id), runWorkflowId(childId));
    await askAboutRuns(childId, id);
    expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    expect(await acme.waitForRun(childId)).toMatchObject({ status: 'succeeded' });
    expect(timesAt('never-3')).toBe(1);
    expect(endsOf(await typesOf(acme, childId))).toEqual(['run_completed']);
    const result = (await eventsOf(acme, id)).find(({ event_type }) => event_type === 'tool_result');
    expect(result).toMatchObject({ status: 'succeeded' });
  });

  // Guards: a run that an operator terminated does not look under way for ever, and its webhook reports the end.
  test('is failed when its workflow was terminated', async () => {
    const id = await dispatch(acme, { agent: 'assistant', prompt: '[[sleep:60000]]' });
    await untilStatus(acme, id, 'running');
    await terminate(runWorkflowId(id));
    await askAboutRuns(id);
    const { status, error } = await acme.waitForRun(id);
    expect(status).toBe('failed');
    expect(error).toMatch(/ended from outside: terminated/);
    expect(endsOf(await typesOf(acme, id))).toEqual(['run_failed']);
    await eventually(() => expect(toldOf(id)).toEqual(['run.failed']));
  });

  // Guards: a run that is under way is left alone, however often Temporal is asked about it.
  test('is left alone where it is there', async () => {
    held();
    const id = await dispatch(acme, { agent: 'assistant', prompt: get('held-4') });
    await arrived('held-4');
    for (let times = 0; times < 2; times++) {
      await askAboutRuns(id);
      await untilAsked('runs', id);
    }
    mayAnswer.resolve();
    expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    expect(timesAt('held-4')).toBe(1);
  });
});

describe('a project', () => {
  beforeAll(async () => {
    await makeTemplate(acme, 'gated', [
      phaseSpec('text', [agentStep('write'), gateStep('approve')]),
      phaseSpec('page', [agentStep('write')], { depends_on: ['text'] }),
    ]);
    await makeTemplate(acme, 'polished', [
      phaseSpec('text', [agentStep('write'), gateStep('approve'), agentStep('polish')]),
    ]);
    await makeTemplate(acme, 'held', [
      phaseSpec('text', [agentStep('write', { instructions: get('held-5'), tools: ['http_request'] })]),
    ]);
    await makeTemplate(acme, 'posting', [
      phaseSpec('text', [agentStep('write', { instructions: post('never-6'), tools: ['http_request'] })]),
    ]);
    await makeTemplate(acme, 'posted', [
      phaseSpec('text', [
        agentStep('write', { instructions: `${post('sent-7')} [[then]] ${get('held-7')}`, tools: ['http_request'] }),
      ]),
    ]);
    await makeTemplate(acme, 'beside', [
      phaseSpec('left', [agentStep('write'), gateStep('approve')]),
      phaseSpec('right', [agentStep('write'), gateStep('approve')]),
    ]);
  });

  // Guards: after a loss, a waiting gate is open again, the work before it is not repeated, and the project completes.
  test('waits at its gate again', async () => {
    const id = await startProject(acme, 'gated');
    const { subtaskId } = await untilGate(acme, id, 'text', 'approve');
    await forget(projectWorkflowId(id), phaseWorkflowId(id, 'text', 1));
    await askAboutProject(id);
    await eventually(async () =>
      expect((await topicsOf(acme, id)).filter((topic) => topic === 'gate_awaiting')).toHaveLength(2),
    );
    const gate = await untilGate(acme, id, 'text', 'approve');
    expect(gate.subtaskId).toBe(subtaskId);
    expect((await gate.approve()).status).toBe(200);
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'text', 'write')).toEqual(['initial succeeded']);
    await eventually(() => expect(toldOf(id)).toEqual(['project.completed']));
  });

  // Guards: a step that was under way is done again, and its earlier run is settled.
  test('takes up a step that was under way', async () => {
    held();
    const id = await startProject(acme, 'held');
    await arrived('held-5');
    const lost = first(await attemptsAt(acme, id, 'text', 'write'));
    await forget(projectWorkflowId(id), phaseWorkflowId(id, 'text', 1), runWorkflowId(lost.child_run_id));
    mayAnswer.resolve();
    await askAboutProject(id);
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'text', 'write')).toEqual(['initial failed', 'crash_recovery succeeded']);
    await askAboutRuns(lost.child_run_id);
    await untilStatus(acme, lost.child_run_id, 'cancelled');
  });

  // Guards: a step with an irreversible effect is left to a person.
  test('is paused where nobody knows whether an effect happened', async () => {
    const id = await startProject(acme, 'posting');
    await arrived('never-6');
    const lost = first(await attemptsAt(acme, id, 'text', 'write'));
    await forget(projectWorkflowId(id), phaseWorkflowId(id, 'text', 1), runWorkflowId(lost.child_run_id));
    await askAboutProject(id);
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nonidempotent_crash' });
    expect(timesAt('never-6')).toBe(1);
  });

  // Guards against: repeating an effect that is known to have happened, in a step that died later and would begin from
  // the start.
  test('is paused where doing it again would repeat an effect', async () => {
    held();
    const id = await startProject(acme, 'posted');
    await arrived('held-7');
    const lost = first(await attemptsAt(acme, id, 'text', 'write'));
    await forget(projectWorkflowId(id), phaseWorkflowId(id, 'text', 1), runWorkflowId(lost.child_run_id));
    mayAnswer.resolve();
    await askAboutProject(id);
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nonidempotent_crash' });
    expect(timesAt('sent-7')).toBe(1);
  });

  // Guards: a project whose workflow was terminated is paused, and its feed says why; resumed, it goes on.
  test('is paused when its workflow was terminated', async () => {
    const id = await startProject(acme, 'gated');
    await untilGate(acme, id, 'text', 'approve');
    await terminate(projectWorkflowId(id));
    await askAboutProject(id);
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nothing_dispatchable' });
    const paused = (await projectEventsOf(acme, id)).find(({ topic }) => topic === 'project_paused');
    expect(paused).toMatchObject({ actor_kind: 'system', payload_jsonb: { workflow: 'terminated' } });
    expect((await command(acme, id, 'resume')).status).toBe(200);
    await eventually(async () =>
      expect((await (await untilGate(acme, id, 'text', 'approve')).approve()).status).toBe(200),
    );
    await untilProject(acme, id, 'completed');
  });

  // Guards: a record and workflows that disagree are brought back together, whether a phase has yet to begin or a begun
  // one has to go on.
  test.each(['gated', 'polished'])('goes on where it stands still although it is active: %s', async (template) => {
    const id = await startProject(acme, template);
    const gate = await untilGate(acme, id, 'text', 'approve');
    await command(acme, id, 'pause');
    expect((await gate.approve()).status).toBe(200);
    const { db } = service.runtime;
    await db.rows(sql`update projects set status = 'active', pause_reason = null where id = ${id}`);
    await eventually(async () => {
      // It is asked about when all that it had to say is old.
      await db.rows(sql`update project_events set ts = now() - interval '2 minutes' where project_id = ${id}`);
      await askAboutProject(id);
      expect(await projectOf(acme, id)).toMatchObject({ status: 'completed' });
    });
  });

  // Guards: a phase that was ended by hand after its project had continued as new is settled, although the project does
  // not hear of it.
  test('hears of a phase that is gone', async () => {
    const id = await startProject(acme, 'beside');
    await untilGate(acme, id, 'left', 'approve');
    await untilGate(acme, id, 'right', 'approve');
    const workflow = client().workflow.getHandle(projectWorkflowId(id));
    const { taskQueue, typedSearchAttributes } = await workflow.describe();
    await workflow.terminate('to be started with another input');
    const input: ProjectInput = {
      ...present(await service.services.stores.projects.loadBoard(id)),
      limits: { maxTurns: 50, maxTokens: 1_000_000 },
      split: false,
      continueAfterEvents: 40,
    };
    const workflowId = projectWorkflowId(id);
    const { firstExecutionRunId } = await client().workflow.start(PROJECT, {
      workflowId,
      taskQueue,
      args: [input],
      typedSearchAttributes,
    });
    await eventually(async () => {
      expect((await command(acme, id, 'pause')).status).toBe(200);
      expect((await command(acme, id, 'resume')).status).toBe(200);
      expect((await workflow.describe()).runId).not.toBe(firstExecutionRunId);
    });
    const gate = await untilGate(acme, id, 'left', 'approve');
    const [{ iteration }] = (await service.runtime.db.rows<{ iteration: number }>(sql`
      select iteration from tasks where project_id = ${id} and phase_slug = 'right'`)) as [{ iteration: number }];
    await terminate(phaseWorkflowId(id, 'right', iteration));
    await askAboutProject(id);
    await untilStep(acme, id, 'right', 'approve', 'blocked');
    await eventually(async () =>
      expect((await (await untilGate(acme, id, 'right', 'approve')).approve()).status).toBe(200),
    );
    expect((await gate.approve()).status).toBe(200);
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'right', 'write')).toEqual(['initial succeeded']);
  });
});
