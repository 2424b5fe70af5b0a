/** Gates that nobody can answer whom they name: an owner decides, and everybody hears who could. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { inboxFaults } from '../../support/database/inbox-oracle.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  startProject,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { startTestService, tenantOf, type Tenant, type TestService } from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';
import { answer, openWaits, untilWait } from './waits.ts';

let service: TestService;
/** An owner by name. */
let olga: Tenant;
let otto: Tenant;
/** An admin and a member. */
let ben: Tenant;
let ana: Tenant;

const gone = { members: ['gone@acme.example'] };
const GATES = {
  gone: { approvers: gone },
  escalating: { approvers: gone, due_in_s: 3_600, escalate_to: { members: ['ana@acme.example'] } },
  admins: { approvers: { roles: ['admin'] }, quorum: 2 },
  'four-eyes': { approvers: gone, four_eyes: true },
  named: { approvers: { members: ['ana@acme.example'] } },
};

beforeAll(async () => {
  service = await startTestService();
  const acme = await service.tenant('acc_acme');
  const person = async (name: string, role: 'owner' | 'admin' | 'member') => {
    const email = `${name}@acme.example`;
    await addMember(service, acme.caller.customerId, email, role);
    return tenantOf(service.baseUrl, { ...acme.caller, actor: email }, '');
  };
  olga = await person('olga', 'owner');
  otto = await person('otto', 'owner');
  ben = await person('ben', 'admin');
  ana = await person('ana', 'member');
  for (const [slug, config] of Object.entries(GATES)) {
    await makeTemplate(acme, slug, [phaseSpec('text', [agentStep('write'), gateStep('gate', 'human', config)])]);
  }
});
afterAll(() => service?.close());
// Guards, after each of them: the inbox has what waits and nothing else.
afterEach(async () => expect(await inboxFaults(service.runtime.db)).toEqual([]));

async function atGate(name: keyof typeof GATES, by = ben) {
  const id = await startProject(by, name);
  const wait = await untilWait(ben, { project_id: id });
  return { id, wait };
}
const approve = { answer: 'approve' };
const refused = (message: string, can_answer: string[]) => ({
  status: 403,
  body: { detail: { code: 'not_an_approver', message, can_answer } },
});
const few = (can: number, of: number) =>
  `${can} of the ${of} whom this takes can answer: an owner of the workspace may decide`;
const isForOwner = async (id: string) => (await openWaits(olga, { project_id: id, for: 'me' })).length === 1;
const exceptionOf = async (id: string) =>
  present((await projectEventsOf(olga, id)).find(({ topic }) => topic === 'gate_vote_recorded'));

// Guards against: a project that can only be abandoned, since the one whom its gate names is not there.
test.each([
  ['approve', 'completed'],
  ['reject', 'paused'],
])('an owner can %s if nobody can whom the gate names', async (said, status) => {
  const { id, wait } = await atGate('gone');
  expect(await answer(ben, wait, approve)).toMatchObject(refused(few(0, 1), []));
  expect(await isForOwner(id)).toBe(true);
  expect(await answer(olga, wait, { answer: said })).toMatchObject({
    status: 200,
    body: { status: 'settled', settled_by: 'olga@acme.example' },
  });
  await untilProject(olga, id, status);
  expect(await exceptionOf(id)).toMatchObject({
    level: 'warn',
    payload_jsonb: { as_owner: true, can_answer: [], decided_by: 'olga@acme.example' },
  });
});

// Guards: the same for a gate that has been open since before addresses were kept in lower case.
test('an owner decides at an open gate that names an address in capital letters', async () => {
  const { id, wait } = await atGate('named');
  await service.runtime.db.rows(sql`
    update subtasks set gate_config = '{"approvers": {"members": ["Ana@Acme.Example"]}}'::jsonb
    where id = ${wait.subtask_id}::uuid`);
  expect(await answer(ana, wait, approve)).toMatchObject(refused(few(0, 1), []));
  expect(await answer(olga, wait, approve)).toMatchObject({ status: 200, body: { status: 'settled' } });
  await untilProject(olga, id, 'completed');
});

// Guards: a quorum that the workspace has not enough people for.
test('an owner decides if fewer can answer than have to approve', async () => {
  const { id, wait } = await atGate('admins');
  expect(await answer(ana, wait, approve)).toMatchObject(refused(few(1, 2), ['ben@acme.example']));
  expect(await answer(ben, wait, approve)).toMatchObject({ status: 200, body: { status: 'open', approvals: 1 } });
  expect(await answer(olga, wait, approve)).toMatchObject({ status: 200, body: { status: 'settled' } });
  await untilProject(olga, id, 'completed');
});

// Guards: an owner is nobody's better while others can answer, or will be able to.
test.each(['named', 'escalating'] as const)('an owner decides nothing if others can: %s', async (name) => {
  const { id, wait } = await atGate(name);
  expect(await isForOwner(id)).toBe(false);
  expect(await answer(olga, wait, approve)).toMatchObject(refused('others decide here', ['ana@acme.example']));
});

// Guards: four eyes hold for owners too; a second one is the way out.
test('an owner who started the project does not let it pass', async () => {
  const { id, wait } = await atGate('four-eyes', olga);
  expect(await answer(olga, wait, approve)).toMatchObject({
    status: 403,
    body: { detail: expect.stringMatching(/olga@acme.example started the project; nobody else can, so add somebody/) },
  });
  expect(await answer(otto, wait, approve)).toMatchObject({ status: 200, body: { status: 'settled' } });
  await untilProject(olga, id, 'completed');
});

// Guards: being an owner is what a person is by now; neither a key of theirs nor one who was demoted decides so.
test('only an owner of this moment decides', async () => {
  const { id, wait } = await atGate('gone');
  const { customerId } = olga.caller;
  await service.runtime.db.rows(sql`
    update workspace_members set role = 'admin' where customer_id = ${customerId} and email = 'otto@acme.example'`);
  expect(await answer(otto, wait, approve)).toMatchObject({ status: 403 });
  const { body: key } = await olga.cp('POST', '/v1/api-keys', { name: 'of an owner' });
  const project = service.runtime.temporal.client.workflow.getHandle(`project-${id}`);
  const { subtask_id } = wait;
  await project.signal('resolveGate', { subtask_id, decision: 'approved', decided_by: `api-key:${key.id}` });
  await project.signal('resolveGate', { subtask_id, decision: 'rejected', decided_by: 'olga@acme.example' });
  await untilProject(olga, id, 'paused');
});
