/** Gates that wait for time or for another project, and gates that are set up wrong. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import type { GateKind } from '../../../src/resources/templates/model.ts';
import {
  agentStep,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  topicsOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
  await makeTemplate(acme, 'human', [phaseSpec('text', [agentStep('write'), gateStep('gate')])]);
  await makeTemplate(other, 'human', [phaseSpec('text', [agentStep('write'), gateStep('gate')])]);
});
afterAll(() => service?.close());

let made = 0;
/** A project of a template of its own. */
async function startWith(kind: 'schedule' | 'pipeline_dep', config: Record<string, unknown>): Promise<string> {
  const slug = `waits-${(made += 1)}`;
  await makeTemplate(acme, slug, [phaseSpec('text', [gateStep('gate', kind, config), agentStep('write')])]);
  return startProject(acme, slug);
}
/** @returns the slug of a workflow with a configuration that would be refused today */
async function workflowFromBefore(kind: GateKind, fitting: object, config: object): Promise<string> {
  const slug = `from-before-${(made += 1)}`;
  await makeTemplate(acme, slug, [phaseSpec('text', [gateStep('gate', kind, { ...fitting }), agentStep('write')])]);
  await service.runtime.db.rows(sql`
    update templates set spec = jsonb_set(spec, '{phases,0,steps,0,gate_config}', ${JSON.stringify(config)}::jsonb)
    where slug = ${slug}`);
  return slug;
}
const gateOf = (id: string) => stepOf(acme, id, 'text', 'gate');
const payloadOf = async (id: string, topic: string) =>
  (await projectEventsOf(acme, id)).find((event) => event.topic === topic)?.payload_jsonb;

describe('a schedule gate', () => {
  // Guards: a time gate passes when its time has come, also one in the past, in the name of the system.
  test.each([
    ['a delay', () => ({ delay_s: 1 })],
    ['no delay', () => ({ delay_s: 0 })],
    ['a time that is past', () => ({ at: '2020-01-01T00:00:00+02:00' })],
    ['a time', () => ({ at: new Date(Date.now() + 1_000).toISOString() })],
  ])('waits for %s', async (_, config) => {
    const id = await startWith('schedule', config());
    await untilProject(acme, id, 'completed');
    const gate = await gateOf(id);
    expect(gate).toMatchObject({ status: 'succeeded', gate_output: { decision: 'approved', decided_by: 'system' } });
    const { until } = present(await payloadOf(id, 'gate_awaiting'));
    expect(Date.parse(gate.completed_at)).toBeGreaterThanOrEqual(Date.parse(until) - 5);
  });

  // Guards: a cron expression is read in UTC, and the feed says until when the gate waits.
  test('waits for a cron expression', async () => {
    const id = await startWith('schedule', { cron: '0 0 1 1 *' });
    await untilStep(acme, id, 'text', 'gate', 'blocked');
    const { until } = present(await payloadOf(id, 'gate_awaiting'));
    expect(until).toBe(`${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`);
    // An operator may answer it before its time.
    const { id: subtask_id } = await gateOf(id);
    const handle = service.runtime.temporal.client.workflow.getHandle(`project-${id}`);
    await handle.signal('resolveGate', { subtask_id, decision: 'approved', decided_by: 'operator' });
    await untilProject(acme, id, 'completed');
  });
});

describe('a pipeline_dep gate', () => {
  // Guards: a project gate opens when the other project completes, or at once where it has.
  test('waits for another project', async () => {
    const awaited = await startProject(acme, 'human');
    const id = await startWith('pipeline_dep', { project_id: awaited });
    await untilStep(acme, id, 'text', 'gate', 'blocked');
    await (await untilGate(acme, awaited, 'text', 'gate')).approve();
    await untilProject(acme, id, 'completed');
    expect(await projectOf(acme, awaited)).toMatchObject({ status: 'completed' });
    expect((await gateOf(id)).gate_output).toMatchObject({ decision: 'approved', decided_by: 'system' });

    const later = await startWith('pipeline_dep', { project_id: awaited });
    await untilProject(acme, later, 'completed');
    expect(await topicsOf(acme, later)).not.toContain('gate_awaiting');
  });

  // Guards: a gate whose other project can never complete is rejected, and the project stops.
  test('is rejected when the other project is abandoned', async () => {
    const awaited = await startProject(acme, 'human');
    const id = await startWith('pipeline_dep', { project_id: awaited });
    await untilStep(acme, id, 'text', 'gate', 'blocked');
    await command(acme, awaited, 'abandon');
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'gate_rejected' });
    expect(await gateOf(id)).toMatchObject({ status: 'failed', gate_output: { decided_by: 'system' } });
    // Asked again it finds the project abandoned.
    await command(acme, id, `subtasks/${(await gateOf(id)).id}/retry`);
    await command(acme, id, 'resume');
    await eventually(async () =>
      expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', pause_reason: 'gate_misconfigured' }),
    );
  });
});

describe('a gate that is set up wrong', () => {
  // Guards: a misconfigured gate stops the project with the reason; another workspace's project is unknown there.
  test.each([
    ['a project that is not there', async () => 'nothing-abcdef'],
    ['a project of somebody else', () => startProject(other, 'human')],
    ['a text that is no id', async () => "x' or 1=1 --"],
  ])('names %s', async (_, nameIt) => {
    const name = await nameIt();
    const id = await startWith('pipeline_dep', { project_id: name });
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'gate_misconfigured' });
    const gate = await gateOf(id);
    expect(gate).toMatchObject({ status: 'failed', error: `gate_config: project_id: there is no project "${name}"` });
    expect(await payloadOf(id, 'gate_misconfigured')).toMatchObject({ gate_kind: 'pipeline_dep', error: gate.error });
    expect((await topicsOf(acme, id)).slice(-2)).toEqual(['gate_misconfigured', 'project_paused']);
  });

  // Guards: a workflow from before its gates were checked can be read and started, and its project stops with the reason.
  test.each([
    ['never comes', { cron: '0 0 31 2 *' }, 'cron: "0 0 31 2 *" never comes'],
    ['is misspelt', { corn: '0 0 1 1 *' }, 'corn: Unknown field; did you mean "cron"?'],
  ])('has a time that %s, in a workflow from before', async (_, config, fault) => {
    const slug = await workflowFromBefore('schedule', { delay_s: 0 }, config);
    const read = await acme.cp('GET', `/v1/workflows/${slug}`);
    expect(read).toMatchObject({ status: 200, body: { spec: { phases: [{ steps: [{ gate_config: config }, {}] }] } } });
    const id = await startProject(acme, slug);
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'gate_misconfigured' });
    const { gate_config, error } = await gateOf(id);
    expect({ gate_config, error }).toEqual({
      gate_config: config,
      error: expect.stringContaining(`gate_config: ${fault}`),
    });
    expect(await payloadOf(id, 'gate_misconfigured')).toMatchObject({ gate_config: config, error });
  });

  // Guards: what a workflow from before says in capital letters is read as it is today once the gate opens.
  test('names an approver in capital letters, in a workflow from before', async () => {
    const approvers = { members: ['Carl@Example.COM'] };
    const slug = await workflowFromBefore('human', {}, { approvers });
    const id = await startProject(acme, slug);
    await untilStep(acme, id, 'text', 'gate', 'blocked');
    expect(await gateOf(id)).toMatchObject({ gate_config: { approvers: { members: ['carl@example.com'] } } });
  });

  // Guards: once the configuration is right, retrying the gate opens it.
  test('is asked again by a retry', async () => {
    const slug = 'early-bird';
    await makeTemplate(acme, slug, [
      phaseSpec('text', [gateStep('gate', 'pipeline_dep', { project_id: 'early-bird-000000' }), agentStep('write')]),
    ]);
    const id = await startProject(acme, slug);
    await untilProject(acme, id, 'paused');
    const awaited = await startProject(acme, 'human');
    await service.runtime.db.rows(
      sql`
        update subtasks set gate_config = ${JSON.stringify({ project_id: awaited })}::jsonb
        where project_id = ${id} and kind = 'gate'`,
    );
    const { id: subtaskId } = await gateOf(id);
    expect(await command(acme, id, `subtasks/${subtaskId}/retry`)).toMatchObject({ status: 200 });
    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    await untilStep(acme, id, 'text', 'gate', 'blocked');
    await (await untilGate(acme, awaited, 'text', 'gate')).approve();
    await untilProject(acme, id, 'completed');
  });

  // Guards: a project cannot wait for itself.
  test('names its own project', async () => {
    const id = await startWith('pipeline_dep', { project_id: 'placeholder' });
    await untilProject(acme, id, 'paused');
    await service.runtime.db.rows(
      sql`
        update subtasks set gate_config = ${JSON.stringify({ project_id: id })}::jsonb
        where project_id = ${id} and kind = 'gate'`,
    );
    await command(acme, id, `subtasks/${(await gateOf(id)).id}/retry`);
    await command(acme, id, 'resume');
    await eventually(async () =>
      expect(await gateOf(id)).toMatchObject({ error: expect.stringContaining('cannot wait for itself') }),
    );
  });
});
