/** What operators, scripts and external systems may send straight to a project's workflow: nothing of it may break it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
  await makeTemplate(acme, 'gated', [phaseSpec('text', [agentStep('write'), gateStep('gate'), agentStep('polish')])]);
});
afterAll(() => service?.close());

async function waiting() {
  const id = await startProject(acme, 'gated');
  const gate = await untilGate(acme, id, 'text', 'gate');
  return { id, gate };
}

// Guards: a signal of unreadable bytes is ignored; a throw would stop the workflow for ever.
test('signals that cannot be read', async () => {
  const { id, gate } = await waiting();
  const { client, namespace } = service.runtime.temporal;
  const unreadable = [
    ['json/plain', 'not json'],
    ['json/plain', ''],
    ['json/protobuf', '{}'],
    ['binary/encrypted', '\u0001\u0002'],
    ['', ''],
  ];
  for (const [encoding, data] of unreadable) {
    const payload = { metadata: { encoding: Buffer.from(present(encoding)) }, data: Buffer.from(present(data)) };
    await client.workflowService.signalWorkflowExecution({
      namespace,
      signalName: 'resolveGate',
      workflowExecution: { workflowId: `project-${id}` },
      input: { payloads: [payload] },
    });
  }
  await eventually(async () => {
    const ignored = (await projectEventsOf(acme, id)).filter(
      ({ level, category }) => `${level} ${category}` === 'warn gate',
    );
    expect(ignored).toHaveLength(unreadable.length);
  });
  expect(await gate.approve()).toMatchObject({ status: 200 });
  await untilProject(acme, id, 'completed');
});

// Guards: an incomplete update, and one of an unknown name, are refused before they reach a handler.
test('updates that are not whole', async () => {
  const { id, gate } = await waiting();
  const handle = service.runtime.temporal.client.workflow.getHandle(`project-${id}`);
  const actor = { kind: 'human', id: 'operator' };
  const wrong: [string, unknown?][] = [
    ...['pause', 'resume', 'abandon', 'runStep', 'retrySubtask', 'retrigger', 'revertArtifact'].map(
      (name): [string] => [name],
    ),
    ...['startEditSession', 'resolveEditPlan', 'resolveGate', 'explode'].map((name): [string] => [name]),
    ['pause', null],
    ['pause', 'now'],
    ['pause', { actor: { kind: 'god', id: null } }],
    ['pause', { actor: { kind: 'human', id: 'a\u0000b' } }],
    ['retrySubtask', { actor }],
    ['retrySubtask', { actor, subtaskId: 'nonsense' }],
    ['retrySubtask', { actor, subtaskId: newUuid() }],
    ['retrigger', { actor, phaseSlug: 'text' }],
    ['retrigger', { actor, phaseSlug: 'text', cascade: 'wild' }],
    ['retrigger', { actor, phaseSlug: { $ne: 1 }, cascade: 'lazy' }],
    ['revertArtifact', { actor, phaseSlug: 'text', cascade: 'lazy', targetVersion: '1' }],
    ['revertArtifact', { actor, phaseSlug: 'text', cascade: 'lazy', targetVersion: 1e300 }],
    ['startEditSession', { actor, cascade: 7 }],
    ['resolveGate', { actor, subtask_id: gate.subtaskId, decision: 'request_changes', gateKind: 'human' }],
    ['resolveGate', { actor, subtask_id: gate.subtaskId, decision: 'approved', gateKind: 'webhook' }],
    ['resolveEditPlan', { actor, taskId: newUuid(), decision: 'approved', decidedBy: 7 }],
  ];
  for (const [name, command] of wrong) {
    const args = (command === undefined ? [] : [command]) as [unknown];
    const outcome = await handle.executeUpdate(name, { args }).then(
      () => 'through',
      (error: Error) => error.name,
    );
    expect([name, command, outcome]).toEqual([name, command, 'WorkflowUpdateFailedError']);
  }
  expect(await projectOf(acme, id)).toMatchObject({ status: 'active' });
  expect(await phaseStatuses(acme, id)).toEqual({ text: 'blocked' });
  expect(await handle.executeUpdate('pause', { args: [{ actor }] })).toEqual({ status: 'paused' });
  expect(await projectOf(acme, id)).toMatchObject({ status: 'paused' });
  await handle.executeUpdate('resume', { args: [{ actor }] });
  expect(await gate.approve()).toMatchObject({ status: 200 });
  await untilProject(acme, id, 'completed');
});
