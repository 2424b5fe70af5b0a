/**
 * Commands that are in the record and of which Temporal knows nothing: everything was killed between the two. They come
 * true once housekeeping looks, whatever else of the project waits, and although nobody repeats them.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { phaseWorkflowId, projectWorkflowId, type Actor } from '../../../src/resources/projects/model.ts';
import { createProjectEngine, type ProjectEngine } from '../../../src/resources/projects/engine/index.ts';
import {
  agentStep,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  startProject,
  triesOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { recheckSignal } from '../../../workflows/project/messages.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { present } from '../../../src/platform/core/present.ts';

let service: TestService;
let acme: Tenant;
let engine: ProjectEngine;
beforeAll(async () => {
  service = await startTestService({ env: { HOUSEKEEPING_INTERVAL: '1s', LOST_WORK_INTERVAL: '1h' } });
  acme = await service.tenant('acc_acme');
  engine = createProjectEngine(service.runtime.db);
  const waiting = phaseSpec('waiting', [gateStep('approve')]);
  await makeTemplate(acme, 'gated', [
    phaseSpec('text', [agentStep('write'), gateStep('approve', 'human', { on_reject: 'rework' }), agentStep('polish')]),
    waiting,
  ]);
  await makeTemplate(acme, 'failing', [
    phaseSpec('text', [
      agentStep('write', { instructions: '[[fail-status:400]]', max_attempts: 1 }),
      { ...gateStep('approve'), depends_on: [] },
    ]),
    waiting,
  ]);
  await makeTemplate(acme, 'chain', [
    phaseSpec('text', [agentStep('write')]),
    phaseSpec('page', [agentStep('write')], { depends_on: ['text'] }),
    waiting,
  ]);
});
afterAll(() => service?.close());

const ann: Actor = { kind: 'human', id: 'ann@acme.example' };
const by = () => ({ actor: ann, commandId: newUuid() });
const effectOf = () => 'idempotent' as const;
const askAbout = (id: string) =>
  service.runtime.db.rows(sql`update projects set checked_at = now() - interval '2 hours' where id = ${id}`);

/** A project at a gate that stays open, beside what a command is about. */
async function open(template: string) {
  const id = await startProject(acme, template);
  await untilGate(acme, id, 'waiting', 'approve');
  return id;
}

const answer = (projectId: string, subtaskId: string, decision: 'approved' | 'rejected') =>
  engine.resolveGate({
    projectId,
    answer: { subtask_id: subtaskId, decision, decided_by: 'ann', comment: 'Said once.' },
    gateKind: 'human',
    ...by(),
  });

const untilClosed = (workflowIds: readonly string[]) =>
  eventually(async () => {
    const states = await Promise.all(workflowIds.map(stateOf));
    expect(states.filter((state) => state === 'RUNNING')).toEqual([]);
  });

/** By command: a project, the command in its record alone, and how it shows that it came true. */
const COMMANDS: Record<string, () => Promise<{ id: string; comesTrue: () => Promise<unknown> }>> = {
  async 'the approval of a gate'() {
    const id = await open('gated');
    const { subtaskId } = await untilGate(acme, id, 'text', 'approve');
    await answer(id, subtaskId, 'approved');
    return { id, comesTrue: () => untilStep(acme, id, 'text', 'polish', 'succeeded') };
  },
  async 'a rejection that sends work back'() {
    const id = await open('gated');
    const { subtaskId } = await untilGate(acme, id, 'text', 'approve');
    await answer(id, subtaskId, 'rejected');
    const comesTrue = () =>
      eventually(async () =>
        expect(await triesOf(acme, id, 'text', 'write')).toEqual(['initial succeeded', 'manual_rework succeeded']),
      );
    return { id, comesTrue };
  },
  async 'a retry beside an open gate'() {
    const id = await open('failing');
    const { id: subtaskId } = await untilStep(acme, id, 'text', 'write', 'failed');
    await untilProject(acme, id, 'paused');
    await engine.retrySubtask({ projectId: id, subtaskId, addendum: null, ...by() });
    await engine.resumeProject({ projectId: id, inFlightTaskIds: await allTasks(id), effectOf, ...by() });
    return {
      id,
      comesTrue: () => eventually(async () => expect(await triesOf(acme, id, 'text', 'write')).toHaveLength(2)),
    };
  },
  async 'a retrigger'() {
    const id = await open('chain');
    await untilStep(acme, id, 'page', 'write', 'succeeded');
    await eventually(async () => expect(await phaseStatuses(acme, id)).toMatchObject({ page: 'succeeded' }));
    await engine.retriggerPhase({ projectId: id, phaseSlug: 'text', addendum: null, cascade: 'strict', ...by() });
    const comesTrue = () =>
      eventually(async () => {
        expect(await triesOf(acme, id, 'text', 'write')).toHaveLength(2);
        expect(await triesOf(acme, id, 'page', 'write')).toHaveLength(2);
        expect(await phaseStatuses(acme, id)).toMatchObject({ text: 'succeeded', page: 'succeeded' });
      });
    return { id, comesTrue };
  },
  async 'an edit session'() {
    const id = await open('chain');
    await engine.startEditSession({ projectId: id, instruction: 'Make it shorter.', cascade: 'lazy', ...by() });
    return { id, comesTrue: () => untilGate(acme, id, 'edit-session-1', 'approve_plan') };
  },
  async 'a decision on a plan'() {
    const id = await open('chain');
    const { body } = await command(acme, id, 'edit-sessions', { instruction: 'Make it shorter.' });
    await untilGate(acme, id, 'edit-session-1', 'approve_plan');
    const plan = { taskId: body.task_id, comment: null, revisedPlan: null, decidedBy: 'ann' };
    await engine.resolveEditPlan({ projectId: id, decision: 'rejected', ...plan, ...by() });
    const comesTrue = () =>
      eventually(async () => {
        expect(await phaseStatuses(acme, id)).toMatchObject({ 'edit-session-1': 'skipped' });
        expect(await stateOf(phaseWorkflowId(id, 'edit-session-1', 1))).not.toBe('RUNNING');
      });
    return { id, comesTrue };
  },
  async 'an abandonment'() {
    const id = await open('gated');
    await untilGate(acme, id, 'text', 'approve');
    await engine.abandonProject({ projectId: id, ...by() });
    const workflows = [projectWorkflowId(id), phaseWorkflowId(id, 'text', 1), phaseWorkflowId(id, 'waiting', 1)];
    return { id, comesTrue: () => untilClosed(workflows) };
  },
  async 'an abandonment of which its phases alone were not told'() {
    const id = await open('gated');
    await untilGate(acme, id, 'text', 'approve');
    await engine.abandonProject({ projectId: id, ...by() });
    await service.runtime.temporal.client.workflow.getHandle(projectWorkflowId(id)).terminate('killed');
    const workflows = [phaseWorkflowId(id, 'text', 1), phaseWorkflowId(id, 'waiting', 1)];
    return { id, comesTrue: () => untilClosed(workflows) };
  },
};

const stateOf = async (workflowId: string): Promise<string> =>
  (await service.runtime.temporal.client.workflow.getHandle(workflowId).describe()).status.name;
const allTasks = async (projectId: string): Promise<string[]> =>
  (await service.runtime.db.rows<{ id: string }>(sql`select id from tasks where project_id = ${projectId}`)).map(
    ({ id }) => id,
  );

// Guards against: a project that stands for good with a command in its record, and workflows that run for ever.
describe('comes true', () => {
  test.each(Object.keys(COMMANDS))('%s', async (name) => {
    const { id, comesTrue } = await present(COMMANDS[name])();
    await askAbout(id);
    await comesTrue();
  });
});

// Guards: a project that agrees with its record is not told to read it.
test('a project that waits is left alone', async () => {
  const id = await open('gated');
  await untilGate(acme, id, 'text', 'approve');
  await askAbout(id);
  await eventually(async () => {
    const asked = await service.runtime.db.rows(sql`
      select 1 from projects where id = ${id} and checked_at > now() - interval '1 hour'`);
    expect(asked).toHaveLength(1);
  });
  const { events } = await service.runtime.temporal.client.workflow.getHandle(projectWorkflowId(id)).fetchHistory();
  const signals = (events ?? []).map((event) => event.workflowExecutionSignaledEventAttributes?.signalName);
  expect(signals).not.toContain(recheckSignal.name);
});
