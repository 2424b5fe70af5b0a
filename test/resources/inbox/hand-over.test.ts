/** What people do to a wait without answering it: ask for it once more, and have somebody answer in their place. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectWorkflowId } from '../../../src/resources/projects/model.ts';
import { resolveGateUpdate } from '../../../workflows/project/messages.ts';
import { untilProject } from '../../support/fixtures/projects.ts';
import {
  sessionFor,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';
import { eventsOf as runEventsOf } from '../../support/fixtures/runs.ts';
import {
  answer,
  approve,
  asks,
  ASKER_AGENT,
  detailOf,
  makeGates,
  memberOf,
  openWaits,
  personOf,
  startAtGate,
  untilWait,
} from './waits.ts';

let service: TestService;
let acme: Tenant;
/** The first two are approvers, the third a member, and the last nobody. */
let ana: Tenant;
let bob: Tenant;
let ben: Tenant;
let eve: Tenant;

const GATES = {
  open: {},
  named: { approvers: { members: ['ana@acme.example', 'bob@acme.example'] } },
  two: { approvers: { members: ['ana@acme.example', 'bob@acme.example'] }, quorum: 2 },
  'four-eyes': { approvers: { members: ['ana@acme.example', 'bob@acme.example'] }, four_eyes: true },
  keys: { approvers: { api_keys: true } },
};

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_handover');
  const member = (name: string) => memberOf(service, acme, `${name}@acme.example`);
  [ana, bob, ben] = [await member('ana'), await member('bob'), await member('ben')];
  eve = personOf(service, acme, 'eve@acme.example');
  await makeGates(acme, GATES);
});
afterAll(() => service?.close());

const atGate = (name: keyof typeof GATES, by?: Tenant) => startAtGate(acme, name, by);
const eventsOf = async (id: string, topic: string): Promise<{ payload_jsonb: object; actor_id: string }[]> => {
  const { body } = await acme.cp('GET', `/v1/projects/${id}/events?limit=500`);
  return body.data.filter((event: { topic: string }) => event.topic === topic);
};
const soon = () => new Date(Date.now() + 3_600_000).toISOString();
const delegate = (by: Tenant, { id }: { id: string }, to = 'ben@acme.example', until = soon()) =>
  by.cp('POST', `/v1/inbox/${id}/delegate`, { to, until });

// Guards: what the inbox says of an answer is what the answer meets. A session may be a viewer's without any row of members.
test('a session of a viewer is told that it may not answer', async () => {
  const { id, wait } = await atGate('open');
  const { baseUrl } = service;
  const viewer = tenantOf(
    baseUrl,
    { ...acme.caller, actor: 'only@acme.example' },
    '',
    sessionFor(acme.caller, 'viewer'),
  );
  expect(await openWaits(viewer, { project_id: id })).toMatchObject([{ id: wait.id, may_answer: false }]);
  expect(await openWaits(viewer, { project_id: id, for: 'me' })).toEqual([]);
  expect(await answer(viewer, wait, approve)).toMatchObject({ status: 403 });
  expect(await openWaits(acme, { project_id: id })).toMatchObject([{ may_answer: true }]);
});

describe('a stand-in', () => {
  // Guards: the answer of whom an approver names counts, from then on and not before, and the project's events say who named whom.
  test('answers in the place of an approver', async () => {
    const { id, wait } = await atGate('named');
    expect(await answer(ben, wait, approve)).toMatchObject({ status: 403 });
    const named = await delegate(ana, wait);
    expect(named).toMatchObject({
      status: 200,
      body: { delegations: [{ from: 'ana@acme.example', to: 'ben@acme.example' }], revision: wait.revision },
    });
    expect(await eventsOf(id, 'gate_delegated')).toMatchObject([
      { actor_id: 'ana@acme.example', payload_jsonb: { to: 'ben@acme.example', step_slug: 'gate' } },
    ]);
    expect(await openWaits(ben, { project_id: id, for: 'me' })).toMatchObject([{ may_answer: true }]);
    expect(await answer(ben, wait, approve)).toMatchObject({ status: 200, body: { settled_by: 'ben@acme.example' } });
    await untilProject(acme, id, 'completed');
    expect(await delegate(ana, wait)).toMatchObject({ status: 409, body: { detail: { code: 'already_answered' } } });
  });

  // Guards: an approver and their stand-in are one, in whichever order they answer: a quorum is of people who were named.
  test('makes no second approval of one', async () => {
    const { id, wait } = await atGate('two');
    await delegate(ana, wait);
    expect(await answer(ben, wait, approve)).toMatchObject({ body: { status: 'open', approvals: 1 } });
    // Guards: who says the same again is recorded once; who says something else is recorded with it.
    expect(await answer(ben, wait, approve)).toMatchObject({ body: { status: 'open', approvals: 1 } });
    expect(await eventsOf(id, 'gate_vote_recorded')).toHaveLength(1);
    expect(await answer(ben, wait, { ...approve, comment: 'Twice read.' })).toMatchObject({ status: 200 });
    expect(await eventsOf(id, 'gate_vote_recorded')).toHaveLength(2);
    expect(await answer(ana, wait, approve)).toMatchObject({ body: { status: 'open', approvals: 1 } });
    expect(await answer(bob, wait, approve)).toMatchObject({ body: { status: 'settled', approvals: 2 } });
  });

  // Guards: whoever names a viewer is told why that cannot be, and nobody that others decide.
  test('is no viewer', async () => {
    await addMember(service, acme.caller.customerId, 'vera@acme.example', 'viewer');
    const { wait } = await atGate('named');
    expect(await delegate(ana, wait, 'vera@acme.example')).toMatchObject({
      status: 400,
      body: { detail: 'to: vera@acme.example is a viewer, who can answer nothing' },
    });
    expect(await detailOf(acme, wait.id)).toMatchObject({ delegations: [] });
  });

  // Guards: four eyes are not shut by having somebody else press the button, nor opened by naming whoever started it.
  test('is ruled out with whom they stand in for', async () => {
    const started = await atGate('four-eyes', ana);
    expect(await delegate(ana, started.wait)).toMatchObject({ status: 403, body: { detail: expect.any(String) } });
    expect(await delegate(bob, started.wait)).toMatchObject({ status: 200 });
    const byBen = await atGate('four-eyes', ben);
    expect(await delegate(ana, byBen.wait)).toMatchObject({ status: 403 });
    expect(await detailOf(acme, byBen.wait.id)).toMatchObject({ delegations: [] });
  });

  // Guards: it ends with its time, and with the membership of either.
  test('is one until then, and as long as both are members', async () => {
    const { wait } = await atGate('named');
    const { db } = service.runtime;
    const mayBen = async () => (await detailOf(ben, wait.id)).may_answer === true;
    await delegate(ana, wait);
    expect(await mayBen()).toBe(true);
    await db.rows(sql`update wait_delegations set until = now() where wait_id = ${wait.id}::uuid`);
    expect(await mayBen()).toBe(false);
    expect(await answer(ben, wait, approve)).toMatchObject({ status: 403 });
    await delegate(ana, wait);
    for (const email of ['ana@acme.example', 'ben@acme.example']) {
      await db.rows(
        sql`delete from workspace_members where customer_id = ${acme.caller.customerId} and email = ${email}`,
      );
      expect(await mayBen()).toBe(false);
      await addMember(service, acme.caller.customerId, email, 'member');
      expect(await mayBen()).toBe(true);
    }
  });

  // Guards: who may name one, and whom.
  test('is named by an approver, and is a member', async () => {
    const { wait } = await atGate('named');
    expect(await delegate(ben, wait, 'bob@acme.example')).toMatchObject({
      status: 403,
      body: { detail: { code: 'not_an_approver' } },
    });
    expect(await delegate(ana, wait, 'eve@acme.example')).toMatchObject({ status: 400 });
    expect(await delegate(ana, wait, 'ana@acme.example')).toMatchObject({ status: 400 });
    expect(await delegate(ana, wait, 'ben@acme.example', '2020-01-01T00:00:00Z')).toMatchObject({ status: 400 });
    expect(await delegate(ana, wait, 'Ben@Acme.example')).toMatchObject({ status: 200 });
    expect(await delegate(ben, wait, 'bob@acme.example')).toMatchObject({ status: 400 });
    const open = await atGate('open');
    expect(await delegate(ana, open.wait)).toMatchObject({ status: 400 });
    expect(await delegate(eve, wait)).toMatchObject({ status: 403 });
  });
});

// Guards: a reminder is counted and told of once, and asking again at once changes nothing.
test('a reminder by hand is one in ten minutes', async () => {
  const { id, wait } = await atGate('named');
  const remind = () => ben.cp('POST', `/v1/inbox/${wait.id}/remind`);
  const answers = await Promise.all([remind(), remind(), remind()]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  expect(await detailOf(acme, wait.id)).toMatchObject({ reminders: 1, status: 'open' });
  expect(await eventsOf(id, 'gate_reminded')).toMatchObject([
    { actor_id: 'ben@acme.example', payload_jsonb: { by_hand: true, nth: 1 } },
  ]);
  await answer(ana, wait, approve);
  const late = await remind();
  expect(late).toMatchObject({
    status: 409,
    body: { detail: { code: 'already_answered', answered_by: 'ana@acme.example' } },
  });
});

// Guards: who asked for an answer, and when, is in the log of what waits, whatever that is: a stopped project, or a run.
test('a reminder by hand is in the log of what waits', async () => {
  await acme.cp('POST', '/v1/agents', ASKER_AGENT);
  const runId = await asks(acme, 'Which colour?');
  const question = await untilWait(acme, { run_id: runId });
  expect(await ben.cp('POST', `/v1/inbox/${question.id}/remind`)).toMatchObject({ status: 200 });
  expect((await runEventsOf(acme, runId)).filter(({ status }) => status === 'reminded')).toMatchObject([
    { event_type: 'tool_call', payload: { by: 'ben@acme.example', nth: 1 } },
  ]);
  const { id, wait } = await atGate('open');
  await answer(acme, wait, { answer: 'reject' });
  const stopped = await untilWait(acme, { project_id: id, kind: 'paused' });
  expect(await ben.cp('POST', `/v1/inbox/${stopped.id}/remind`)).toMatchObject({ status: 200 });
  expect(await eventsOf(id, 'project_reminded')).toMatchObject([
    { actor_id: 'ben@acme.example', payload_jsonb: { by_hand: true, nth: 1 } },
  ]);
});

// Guards: what was seen is held against what is there under the lock that settles it, also where the look before it is passed by.
test('an answer to another revision is refused where it is recorded', async () => {
  const { id, wait } = await atGate('open');
  const project = service.runtime.temporal.client.workflow.getHandle(projectWorkflowId(id));
  const resolve = (revision: number) =>
    project.executeUpdate(resolveGateUpdate, {
      args: [
        {
          subtask_id: String(wait['subtask_id']),
          decision: 'approved' as const,
          actor: { kind: 'human', id: 'ana@acme.example' },
          gateKind: 'human',
          seen: { waitId: wait.id, revision, via: 'inbox' },
        },
      ],
    });
  await expect(resolve(wait.revision + 1)).rejects.toMatchObject({ cause: { type: 'changed_since' } });
  expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open' });
  await resolve(wait.revision);
  await untilProject(acme, id, 'completed');
});
