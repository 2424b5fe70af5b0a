/** Gates: who may answer which, what follows, and that nothing that anybody sends can break a project. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { first, last, present } from '../../../src/platform/core/present.ts';
import {
  agentStep,
  attemptsAt,
  command,
  contextOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { tool } from '../../support/fixtures/runs.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

/** Of many people on one gate, at once. */
const DECISIONS = sized(50, 100);

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
  await acme.cp('POST', '/v1/agents', {
    slug: 'hook',
    model: 'offline',
    prompt: 'You pass on what systems say.',
    allowed_tool_slugs: ['pipeline_resolve_webhook_gate'],
  });
  await makeTemplate(acme, 'human', [gated('human', {})]);
  await makeTemplate(acme, 'rework', [gated('human', { on_reject: 'rework' })]);
  await makeTemplate(acme, 'webhook', [gated('webhook', {})]);
});
afterAll(() => service?.close());

const gated = (kind: 'human' | 'webhook' | 'schedule' | 'pipeline_dep', config: Record<string, unknown>) =>
  phaseSpec('text', [agentStep('write'), gateStep('gate', kind, config), agentStep('polish')]);

const gateOf = (id: string) => stepOf(acme, id, 'text', 'gate');
const signal = (id: string, ...args: unknown[]) =>
  service.runtime.temporal.client.workflow.getHandle(`project-${id}`).signal('resolveGate', ...args);
const gateEvents = async (id: string) =>
  (await projectEventsOf(acme, id)).filter(({ category }) => category === 'gate');

describe('a human gate', () => {
  // Guards: the first of several decisions counts, in the name of the person who made it, and the next step is told.
  test('is approved once', async () => {
    const id = await startProject(acme, 'human');
    const gate = await untilGate(acme, id, 'text', 'gate');
    const answers = await Promise.all(
      Array.from({ length: DECISIONS }, (_, n) => (n % 2 === 0 ? gate.approve('Fine') : gate.reject('No'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(DECISIONS - 1).fill(409)]);
    tried('decisions on one gate', DECISIONS);
    const won = answers.findIndex(({ status }) => status === 200);
    const decision = won % 2 === 0 ? 'approved' : 'rejected';
    expect(await gateOf(id)).toMatchObject({
      status: decision === 'approved' ? 'succeeded' : 'failed',
      gate_output: { decision, decided_by: acme.caller.actor, decided_at: expect.any(String), payload: null },
    });
    await untilProject(acme, id, decision === 'approved' ? 'completed' : 'paused');
    expect((await gateEvents(id)).map(({ topic }) => topic)).toEqual(['gate_awaiting', 'gate_resolved']);
  });

  // Guards: an answer to a gate takes one workflow task, because each is a wait on a busy machine: that task records
  // the answer and returns it, and the phase is told meanwhile without having to report back.
  test('is answered within one workflow task', async () => {
    const id = await startProject(acme, 'human');
    const handle = service.runtime.temporal.client.workflow.getHandle(`project-${id}`);
    const told = async () =>
      present((await handle.fetchHistory()).events).flatMap((event) => {
        if (event.workflowExecutionUpdateAcceptedEventAttributes) return ['accepted'];
        if (event.workflowExecutionUpdateCompletedEventAttributes) return ['answered'];
        if (event.externalWorkflowExecutionSignaledEventAttributes) return ['delivered'];
        const { signalName } = event.workflowExecutionSignaledEventAttributes ?? {};
        return signalName ? [signalName] : [];
      });
    const gate = await untilGate(acme, id, 'text', 'gate');
    // The record has the gate before the project's workflow has heard of it.
    await eventually(async () => expect(await told()).toEqual(['phaseStatus']));
    await gate.approve();
    await untilProject(acme, id, 'completed');
    expect(await told()).toEqual(['phaseStatus', 'accepted', 'answered', 'delivered']);
  });

  // Guards: a rejection stops the project; a retry of the gate asks again, and the project goes on from there.
  test('stops the project when it is rejected', async () => {
    const id = await startProject(acme, 'human');
    const gate = await untilGate(acme, id, 'text', 'gate');
    expect(await gate.reject('Not ours')).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', pause_reason: 'gate_rejected' });
    await eventually(async () => expect(await phaseStatuses(acme, id)).toEqual({ text: 'failed' }));
    expect(await command(acme, id, `subtasks/${gate.subtaskId}/retry`)).toMatchObject({ status: 200 });
    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    const again = await untilGate(acme, id, 'text', 'gate');
    expect(await again.approve()).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'text', 'write')).toEqual(['initial succeeded']);
  });

  // Guards: with on_reject `rework`, the work goes back with the comment, any number of times.
  test('sends the work back', async () => {
    const id = await startProject(acme, 'rework');
    for (const comment of ['More salt', 'Less salt']) {
      const gate = await untilGate(acme, id, 'text', 'gate');
      expect(await gate.reject(comment)).toMatchObject({ status: 200 });
      await eventually(async () => {
        const told = await attemptsAt(acme, id, 'text', 'write');
        expect(await contextOf(acme, last(told))).toContain(comment);
      });
    }
    await (await untilGate(acme, id, 'text', 'gate')).approve();
    expect(await untilProject(acme, id, 'completed')).toMatchObject({ pause_reason: null });
    expect(await triesOf(acme, id, 'text', 'write')).toEqual([
      'initial succeeded',
      'manual_rework succeeded',
      'manual_rework succeeded',
    ]);
    expect(await triesOf(acme, id, 'text', 'polish')).toEqual(['initial succeeded']);
  });
});

describe('a webhook gate', () => {
  const webhookProject = async () => {
    const id = await startProject(acme, 'webhook');
    const { subtaskId } = await untilGate(acme, id, 'text', 'gate');
    return { id, subtaskId };
  };

  // Guards: a person cannot answer for an external system; a signal can, and its payload reaches the next step.
  test('is answered by a signal', async () => {
    const { id, subtaskId } = await webhookProject();
    expect(await (await untilGate(acme, id, 'text', 'gate')).approve()).toMatchObject({ status: 409 });
    await signal(id, {
      subtask_id: subtaskId,
      decision: 'approved',
      decided_by: 'ci',
      payload: { build: 'BUILD-77' },
      comment: 'Green',
    });
    await untilProject(acme, id, 'completed');
    expect((await gateOf(id)).gate_output).toMatchObject({
      decision: 'approved',
      decided_by: 'ci',
      comment: 'Green',
      payload: { build: 'BUILD-77' },
    });
    const polish = first(await attemptsAt(acme, id, 'text', 'polish'));
    expect(await contextOf(acme, polish)).toContain('BUILD-77');
    expect(await gateEvents(id)).toMatchObject([
      { topic: 'gate_awaiting' },
      { topic: 'gate_resolved', level: 'info', actor_kind: 'external' },
    ]);
  });

  // Guards: a malformed signal changes nothing, is noted in the feed, and the project goes on afterwards.
  test('survives every other signal', async () => {
    const { id, subtaskId } = await webhookProject();
    const right = { subtask_id: subtaskId, decision: 'approved' };
    const { id: writer } = await stepOf(acme, id, 'text', 'write');
    const wrong: unknown[][] = [
      [],
      [null],
      ['approved'],
      [[right]],
      [{}],
      [{ ...right, subtask_id: newUuid() }],
      [{ ...right, subtask_id: writer }],
      [{ ...right, subtask_id: 'nonsense' }],
      [{ ...right, subtask_id: { $ne: null } }],
      [{ ...right, decision: 'perhaps' }],
      [{ ...right, decided_by: 7 }],
      [{ ...right, decided_by: 'x'.repeat(65) }],
      [{ ...right, decided_by: 'a\u0000b' }],
      [{ ...right, comment: 'a\u0000b' }],
      [{ ...right, comment: 'a\ud800b' }],
      [{ ...right, payload: { 'k\u0000': 1 } }],
      [{ ...right, payload: [1] }],
      [{ ...right, payload: { big: 'x'.repeat(1_000_000) } }],
    ];
    for (const args of wrong) await signal(id, ...args);
    const warnings = await eventually(async () => {
      const events = (await gateEvents(id)).filter(({ level }) => level === 'warn');
      expect(events).toHaveLength(wrong.length);
      return events;
    });
    for (const event of warnings) {
      expect(event).toMatchObject({
        topic: 'gate_answer_ignored',
        payload_jsonb: { why: expect.any(String) },
      });
    }
    expect(await gateOf(id)).toMatchObject({ status: 'blocked', gate_output: null });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'active' });
    await signal(id, { ...right, __proto__: null, unknown: 1 });
    await untilProject(acme, id, 'completed');
  });

  // Guards: an agent may answer a webhook gate with its tool, in the name of the system that it speaks for.
  test('is answered by an agent', async () => {
    const { id, subtaskId } = await webhookProject();
    const answer = { project_id: id, subtask_id: subtaskId, payload: { from: 'shop' } };
    await acme.run({ agent: 'hook', prompt: tool('pipeline_resolve_webhook_gate', answer) });
    await untilProject(acme, id, 'completed');
    expect((await gateOf(id)).gate_output).toMatchObject({ decided_by: 'webhook', payload: { from: 'shop' } });
  });

  // Guards: after expires_in_s the system rejects the gate, and on_reject says what follows.
  test.each([
    ['pause', 'paused'],
    ['rework', 'active'],
  ])('expires: %s', async (on_reject, status) => {
    const slug = `expiring-${on_reject}`;
    await makeTemplate(acme, slug, [gated('webhook', { expires_in_s: 1, on_reject })]);
    const id = await startProject(acme, slug);
    await eventually(async () => {
      const events = await gateEvents(id);
      const rejected = events.find(({ topic }) => topic === 'gate_resolved');
      expect(rejected).toMatchObject({
        actor_kind: 'system',
        payload_jsonb: { decision: 'rejected', decided_by: 'system' },
      });
    });
    expect(await projectOf(acme, id)).toMatchObject({ status });
    if (status === 'active') {
      await eventually(async () =>
        expect((await triesOf(acme, id, 'text', 'write')).slice(0, 2)).toEqual([
          'initial succeeded',
          'manual_rework succeeded',
        ]),
      );
    } else expect(await gateOf(id)).toMatchObject({ status: 'failed' });
    await command(acme, id, 'abandon');
  });

  // Guards: the end of a gate's time does not restart a project that a failure stopped, record and workflow agree, and
  // a later decision of a person takes effect.
  test('does not wake a stopped project by its time', async () => {
    await makeTemplate(acme, 'clock', [
      // The other phase has failed by then, on a busy machine too.
      gated('webhook', { on_reject: 'rework', expires_in_s: 8 }),
      phaseSpec('broken', [
        gateStep('when', 'human'),
        agentStep('write', { instructions: '[[fail-status:400]]', max_attempts: 1 }),
      ]),
    ]);
    const id = await startProject(acme, 'clock');
    await untilGate(acme, id, 'text', 'gate');
    await (await untilGate(acme, id, 'broken', 'when')).approve();
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    await eventually(async () => {
      expect((await gateEvents(id)).filter(({ topic }) => topic === 'gate_resolved')).toHaveLength(2);
    });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', pause_reason: 'subtask_failed' });
    expect((await command(acme, id, 'resume')).status).toBe(200);
    // Nobody attends: after three times it is over with that, too.
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'gate_expired' });
    expect((await triesOf(acme, id, 'text', 'write')).length).toBeLessThanOrEqual(4);
    await command(acme, id, 'abandon');
  });

  // Guards: an external answer restarts a project that stopped by itself, and not one that a person paused.
  test('takes a stopped project along, but not one that a person stopped', async () => {
    await makeTemplate(acme, 'beside', [
      gated('webhook', {}),
      phaseSpec('broken', [
        gateStep('when', 'human'),
        agentStep('write', { instructions: '[[fail-status:400]]', max_attempts: 1 }),
      ]),
    ]);
    const outcomes: [boolean, string][] = [
      [false, 'active'],
      [true, 'paused'],
    ];
    for (const [isByPerson, expected] of outcomes) {
      const id = await startProject(acme, 'beside');
      const { subtaskId } = await untilGate(acme, id, 'text', 'gate');
      await (await untilGate(acme, id, 'broken', 'when')).approve();
      expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
      if (isByPerson) await command(acme, id, 'pause');
      await signal(id, { subtask_id: subtaskId, decision: 'approved' });
      const resolved = async () =>
        (await topicsOf(acme, id)).slice((await topicsOf(acme, id)).indexOf('gate_resolved'));
      await eventually(async () => expect((await gateOf(id)).status).toBe('succeeded'));
      if (expected === 'active') {
        // It goes on with the phase of the gate, and then only the failed one is left.
        await untilStep(acme, id, 'text', 'polish', 'succeeded');
        expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nothing_dispatchable' });
        expect(await resolved()).toContain('project_started');
      } else {
        expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', pause_reason: 'requested' });
        expect((await stepOf(acme, id, 'text', 'polish')).status).toBe('pending');
      }
      await command(acme, id, 'abandon');
    }
  });
});
