/** Who decides at a gate of people, how many of them, and what comes with time: by every way in which an answer can come. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { projectWorkflowId } from '../../../src/resources/projects/model.ts';
import {
  agentStep,
  artifactsOf,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectOf,
  startProject,
  stepOf,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { inboxFaults } from '../../support/database/inbox-oracle.ts';
import {
  eventually,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';
import { answer, detailOf, openWaits, untilWait } from './waits.ts';

let service: TestService;
let acme: Tenant;
/** Members, but for the last. */
let ana: Tenant;
let ben: Tenant;
let stranger: Tenant;

const GATES = {
  named: { approvers: { members: ['ana@acme.example'] } },
  roles: { approvers: { roles: ['admin'] } },
  two: { quorum: 2 },
  'four-eyes': { four_eyes: true },
  escalating: {
    approvers: { members: ['ana@acme.example'] },
    due_in_s: 1,
    escalate_to: { members: ['ben@acme.example'] },
  },
  reminding: { reminders_s: [1, 2], due_in_s: 3 },
  approving: { due_in_s: 1, on_timeout: 'approve' },
  rejecting: { due_in_s: 1, on_timeout: 'reject' },
  pausing: { due_in_s: 1, on_timeout: 'pause' },
  tiring: { due_in_s: 1, on_timeout: 'reject', on_reject: 'rework' },
};
type GateName = keyof typeof GATES;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_policies');
  const person = async (name: string, role?: 'admin' | 'member') => {
    const email = `${name}@acme.example`;
    if (role) await addMember(service, acme.caller.customerId, email, role);
    return tenantOf(service.baseUrl, { ...acme.caller, actor: email }, '');
  };
  ana = await person('ana', 'member');
  ben = await person('ben', 'admin');
  stranger = await person('eve');
  for (const [slug, config] of Object.entries(GATES)) {
    await makeTemplate(acme, slug, [
      phaseSpec('plot', [agentStep('outline')]),
      phaseSpec('text', [agentStep('write'), gateStep('gate', 'human', config)], { depends_on: ['plot'] }),
    ]);
  }
});
afterAll(() => service?.close());
// Guards, after each of them: whatever came of votes and time, the inbox has what waits and nothing else.
afterEach(async () => expect(await inboxFaults(service.runtime.db)).toEqual([]));

async function atGate(name: GateName, by: Tenant = acme) {
  const id = await startProject(by, name);
  const wait = await untilWait(acme, { project_id: id });
  return { id, wait };
}
const eventsOf = async (id: string): Promise<{ topic: string; payload_jsonb: Record<string, unknown> }[]> =>
  (await acme.cp('GET', `/v1/projects/${id}/events?limit=500`)).body.data;
const topicsOf = async (id: string) => (await eventsOf(id)).map(({ topic }) => topic);
const untilTopic = (id: string, topic: string) =>
  eventually(async () => {
    if (!(await topicsOf(id)).includes(topic)) throw new Error(`no ${topic} yet`);
  });
const approve = { answer: 'approve' };

describe('who may', () => {
  // Guards: others than those who are named decide nothing, by whichever way they come, and hear who could.
  test('are those who are named', async () => {
    const { id, wait } = await atGate('named');
    const told = { detail: { code: 'not_an_approver', approvers: GATES.named.approvers } };
    expect(await answer(acme, wait, approve)).toMatchObject({ status: 403, body: told });
    expect(await (await untilGate(ben, id, 'text', 'gate')).approve()).toMatchObject({ status: 403, body: told });
    const project = service.runtime.temporal.client.workflow.getHandle(projectWorkflowId(id));
    const { subtask_id } = wait;
    await project.signal('resolveGate', { subtask_id, decision: 'approved', decided_by: 'ben@acme.example' });
    const refused = await eventually(async () => {
      const events = await eventsOf(id);
      const ignored = events.find(({ topic }) => topic === 'gate_answer_ignored');
      if (!ignored) throw new Error('the signal was not told of');
      return ignored;
    });
    expect(refused.payload_jsonb).toMatchObject({ why: 'others decide here', subtask_id });
    expect(await stepOf(acme, id, 'text', 'gate')).toMatchObject({ status: 'blocked' });
    expect((await openWaits(ana, { project_id: id, for: 'me' })).map(({ may_answer }) => may_answer)).toEqual([true]);
    expect(await openWaits(ben, { project_id: id, for: 'me' })).toEqual([]);
    expect(await answer(ana, wait, approve)).toMatchObject({
      status: 200,
      body: { status: 'settled', settled_by: 'ana@acme.example', policy: GATES.named },
    });
    await untilProject(acme, id, 'completed');
  });

  // Guards: a signal from outside obeys too, and is heard of those who may.
  test('are heard by signal', async () => {
    const { id, wait } = await atGate('named');
    const answer = { subtask_id: wait.subtask_id, decision: 'approved', decided_by: 'ana@acme.example' };
    await service.runtime.temporal.client.workflow.getHandle(projectWorkflowId(id)).signal('resolveGate', answer);
    await untilProject(acme, id, 'completed');
    expect(await detailOf(acme, wait.id)).toMatchObject({ settled_via: 'signal', votes: [{ via: 'signal' }] });
  });

  // Guards: a role is that of the member now; whoever is none has none, whatever their session says.
  test('are those of a role', async () => {
    const { wait } = await atGate('roles');
    expect(await answer(ana, wait, approve)).toMatchObject({ status: 403 });
    expect(await answer(stranger, wait, approve)).toMatchObject({ status: 403 });
    expect(await answer(ben, wait, approve)).toMatchObject({ status: 200 });
  });

  // Guards: four eyes: whoever started it does not also let it pass.
  test('is not who started it', async () => {
    const { id, wait } = await atGate('four-eyes', ana);
    expect(await answer(ana, wait, approve)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('ana@acme.example started the project') },
    });
    expect(await answer(ben, wait, approve)).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });
});

describe('how many', () => {
  // Guards: a quorum counts people and not answers; the last one that is needed decides, and the votes are shown.
  test('have to approve', async () => {
    const { id, wait } = await atGate('two');
    for (let i = 0; i < 2; i++) {
      expect(await answer(ana, wait, { ...approve, comment: 'Good' })).toMatchObject({
        status: 200,
        body: { status: 'open', approvals: 1, votes: [{ by: 'ana@acme.example', answer: 'approve', comment: 'Good' }] },
      });
    }
    expect(await stepOf(acme, id, 'text', 'gate')).toMatchObject({ status: 'blocked' });
    expect(await answer(ben, wait, approve)).toMatchObject({
      status: 200,
      body: { status: 'settled', answer: 'approve', settled_by: 'ben@acme.example', votes: [{}, {}] },
    });
    await untilProject(acme, id, 'completed');
    // The same vote again is no news, and the one that decides is told as the decision.
    expect((await topicsOf(id)).filter((topic) => topic === 'gate_vote_recorded')).toHaveLength(1);
  });

  // Guards: one rejection decides, however many have approved.
  test('do not outvote one who rejects', async () => {
    const { id, wait } = await atGate('two');
    expect(await (await untilGate(ana, id, 'text', 'gate')).approve()).toMatchObject({
      status: 200,
      body: { status: 'blocked' },
    });
    expect(await answer(ben, wait, { answer: 'reject' })).toMatchObject({ body: { answer: 'reject' } });
    await untilProject(acme, id, 'paused');
  });

  // Guards: what was said to what has changed since does not count.
  test('have seen the same', async () => {
    const { id, wait } = await atGate('two');
    expect(await answer(ana, wait, approve)).toMatchObject({ body: { approvals: 1 } });
    await command(acme, id, 'phases/plot/retrigger', { cascade: 'none' });
    await eventually(async () => expect(await artifactsOf(acme, id)).toMatchObject([{ version: 2 }]));
    const changed = { ...wait, revision: 2 };
    expect(await answer(ben, changed, approve)).toMatchObject({ body: { status: 'open', approvals: 1, votes: [{}] } });
    expect(await answer(ana, changed, approve)).toMatchObject({ body: { status: 'settled' } });
  });

  // Guards: of votes that come at once each is counted, and one of them decides.
  test('may come at once', async () => {
    const { id, wait } = await atGate('two');
    const answers = await Promise.all([answer(ana, wait, approve), answer(ben, wait, approve)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await untilProject(acme, id, 'completed');
    expect(await detailOf(acme, wait.id)).toMatchObject({ votes: [{}, {}] });
  });
});

describe('when', () => {
  // Guards: others may answer once nobody did in time, and not before.
  test('it is due it escalates', async () => {
    const { id, wait } = await atGate('escalating');
    await untilTopic(id, 'gate_escalated');
    expect(await detailOf(ben, wait.id)).toMatchObject({ may_answer: true, escalated_at: expect.any(String) });
    expect(await answer(stranger, wait, approve)).toMatchObject({ status: 403 });
    expect(await answer(ben, wait, approve)).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });

  // Guards: reminders come in their order, each once; and a time that decides nothing leaves the gate to people.
  test('its reminders come', async () => {
    const { id, wait } = await atGate('reminding');
    await untilTopic(id, 'gate_timed_out');
    const topics = (await topicsOf(id)).filter((topic) => /^gate_(reminded|timed_out)$/.test(topic)).toSorted();
    expect(topics).toEqual(['gate_reminded', 'gate_reminded', 'gate_timed_out']);
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open', overdue: true, reminders: 2 });
    expect(await answer(acme, wait, approve)).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });

  // Guards: each of the ends that a gate can have for want of an answer.
  test.each([
    ['approving', 'completed', { status: 'settled', answer: 'approve', settled_via: 'timeout' }],
    ['rejecting', 'paused', { status: 'settled', answer: 'reject', settled_via: 'timeout' }],
    ['pausing', 'paused', { status: 'open', answer: null }],
  ] as const)('its time is over: %s', async (name, status, expected) => {
    const { id, wait } = await atGate(name);
    await untilProject(acme, id, status);
    await eventually(async () => expect(await detailOf(acme, wait.id)).toMatchObject(expected));
  });

  // Guards: work that is done again and again, and looked at by nobody, stops.
  test('nobody answers three times in a row the project pauses', async () => {
    const id = await startProject(acme, 'tiring');
    await untilProject(acme, id, 'paused');
    expect(await projectOf(acme, id)).toMatchObject({ pause_reason: 'gate_expired' });
  });

  // Guards: whoever looks at the workflow sees who decides, and what comes when.
  test('is shown in the workflow', async () => {
    const { id, wait } = await atGate('escalating');
    const { workflow } = service.runtime.temporal.client;
    const phase = workflow.getHandle(`project-${id}/text/1`);
    // The wait is in the database before the workflow hears of it.
    await eventually(async () => {
      const metadata: { currentDetails?: string } = await phase.query('__temporal_workflow_metadata');
      expect(metadata.currentDetails).toContain('of its approvers, escalates after 1 s, after 2 s: remind');
    });
    await answer(ana, wait, approve);
  });
});
