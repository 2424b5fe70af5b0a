/** Who somebody is: every rule about persons, by every credential that one person can hold. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { WORKING_ROLES } from '../../../src/platform/core/rights.ts';
import { inboxFaults } from '../../support/database/inbox-oracle.ts';
import { credentialsOfPerson, type Credential } from '../../support/fixtures/credentials.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec } from '../../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';
import { detailOf, makeGates, untilWait } from './waits.ts';
import { present } from '../../../src/platform/core/present.ts';

const ANA = 'ana@acme.example';
const BEN = 'ben@acme.example';
const NAMED = 'named@acme.example';
const NAMED_TOO = 'named-too@acme.example';
const ANYBODY = { roles: [...WORKING_ROLES], api_keys: true };
const GATES = {
  two: { approvers: ANYBODY, quorum: 2 },
  'two-of-admins': {
    approvers: { roles: ['admin' as const], emails: [NAMED, NAMED_TOO], api_keys: true },
    quorum: 2,
  },
  eyes: { approvers: ANYBODY, four_eyes: true },
};

let service: TestService;
let acme: Tenant;
let ana: Record<string, Credential>;
let ben: Record<string, Credential>;

beforeAll(async () => {
  service = await startTestService({ env: { EXTENSIONS: 'idempotency' } });
  acme = await service.tenant('acc_persons', 'scale');
  for (const email of [ANA, BEN]) await addMember(service, acme.caller.customerId, email, 'member');
  await addMember(service, acme.caller.customerId, acme.caller.actor, 'owner');
  [ana, ben] = [await credentialsOfPerson(service, acme, ANA), await credentialsOfPerson(service, acme, BEN)];
  await makeGates(acme, GATES);
});
afterAll(() => service?.close());
afterEach(async () => expect(await inboxFaults(service.runtime.db)).toEqual([]));

async function atGate(slug: keyof typeof GATES, by?: Credential) {
  const id = (await by?.start?.(slug)) ?? (await ownProject(slug));
  return untilWait(acme, { project_id: id });
}
const ownProject = async (workflow_slug: string): Promise<string> =>
  (await acme.cp('POST', '/v1/projects', { workflow_slug, title: 'Bread', brief: 'Tell the story of bread.' })).body.id;
const stateOf = async (wait: { id: string }) => {
  const { status, approvals } = await detailOf(acme, wait.id);
  return { status, approvals };
};
const names = ['a session', 'a session by subject', 'a session in capitals', 'an API key by MCP', 'a link'];

describe('quorum', () => {
  // Guards: one person is one voter, with however many credentials; another person's vote is the second one.
  test('counts persons', async () => {
    const wait = await atGate('two');
    for (const [name, credential] of Object.entries(ana)) {
      expect([name, await credential.approve(wait)]).toEqual([name, { status: 200 }]);
      expect([name, await stateOf(wait)]).toEqual([name, { status: 'open', approvals: 1 }]);
    }
    expect(await present(ben['another API key by MCP']).approve(wait)).toEqual({ status: 200 });
    expect(await stateOf(wait)).toMatchObject({ status: 'settled' });
  });

  // Guards against: keys without a recorded maker, which may all be of one person, filling a quorum among themselves.
  test('counts keys of unknown makers as one', async () => {
    const wait = await atGate('two');
    const customerId = acme.caller.customerId;
    const makerless = await credentialsOfPerson(service, acme, BEN);
    await service.runtime.db.rows(sql`
      update api_keys set made_by = null where customer_id = ${customerId}
        and 'api-key:' || id in (${present(makerless['an API key by MCP']).actor}, ${present(makerless['another API key by MCP']).actor})`);
    await present(makerless['an API key by MCP']).approve(wait);
    await present(makerless['another API key by MCP']).approve(wait);
    expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 1 });
  });
});

describe('four eyes', () => {
  // Guards: whoever started the project decides by no credential, whichever it was started with; another person does.
  test.each(['a session', 'a session by subject', 'a session in capitals', 'an API key by MCP'])(
    'after %s started it',
    async (name) => {
      const wait = await atGate('eyes', present(ana[name]));
      for (const [other, credential] of Object.entries(ana)) {
        expect([other, await credential.approve(wait)]).toEqual([
          other,
          { status: 403, problem: other === 'a link' ? 'refused' : 'four_eyes' },
        ]);
      }
      expect(await present(ben['an API key by MCP']).approve(wait)).toEqual({ status: 200 });
      expect(await stateOf(wait)).toMatchObject({ status: 'settled' });
    },
  );

  // Guards: the same for whoever last changed what the gate is about.
  test('after an API key changed the artifact before it', async () => {
    await makeTemplate(acme, 'eyes-on-text', [
      phaseSpec('plot', [agentStep('outline')]),
      phaseSpec('text', [agentStep('write'), gateStep('gate', 'human', GATES.eyes)], { depends_on: ['plot'] }),
    ]);
    const project_id = await ownProject('eyes-on-text');
    const wait = await untilWait(acme, { project_id });
    const changed = await service.runtime.db.rows(sql`
      update artifacts v set changed_by = ${present(ana['an API key by MCP']).actor} from tasks t
      where t.id = v.task_id and t.project_id = ${project_id} and t.phase_slug = 'plot' returning v.id`);
    expect(changed).toHaveLength(1);
    for (const [name, credential] of Object.entries(ana))
      expect([name, (await credential.approve(wait)).status]).toEqual([name, 403]);
    expect(await present(ben['a session']).approve(wait)).toEqual({ status: 200 });
  });
});

/** Each makes somebody less than they were when they voted. */
const CHANGES = {
  removed: async (id: string) => acme.cp('DELETE', `/v1/workspaces/acc_persons/members/${id}`),
  'made a viewer': async (id: string) =>
    acme.cp('PATCH', `/v1/workspaces/acc_persons/members/${id}`, { role: 'viewer' }),
};

describe.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])('a voter who was %s since', (change) => {
  // Guards: at the moment of evaluation a vote counts by what its voter is then, whatever it was cast with; and nothing
  // that the person holds votes again.
  test.each(names)('by %s', async (name) => {
    const email = `voter-${change === 'removed' ? 'r' : 'v'}-${names.indexOf(name)}@acme.example`;
    const id = await addMember(service, acme.caller.customerId, email, 'member');
    const credentials = await credentialsOfPerson(service, acme, email);
    const [wait, other] = [await atGate('two'), await atGate('two')];
    expect(await present(credentials[name]).approve(wait)).toEqual({ status: 200 });
    expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 1 });
    expect((await CHANGES[change](id)).status).toBeLessThan(300);
    expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 0 });
    expect(await present(ben['a session']).approve(wait)).toEqual({ status: 200 });
    expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 1 });
    for (const [held, credential] of Object.entries(credentials)) {
      const { status } = await credential.approve(other);
      expect([held, [401, 403, 404].includes(status)]).toEqual([held, true]);
    }
    expect(await stateOf(other)).toEqual({ status: 'open', approvals: 0 });
  });
});

// Guards: a role that a gate asks for is looked at when the quorum is evaluated; removal outranks an address in a gate.
test('a lost role and a removal take votes back at gates that name them', async () => {
  const customerId = acme.caller.customerId;
  const adminId = await addMember(service, customerId, 'admin@acme.example', 'admin');
  const admin = await credentialsOfPerson(service, acme, 'admin@acme.example', 'admin');
  const wait = await atGate('two-of-admins');
  await present(admin['a session']).approve(wait);
  expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 1 });
  await acme.cp('PATCH', `/v1/workspaces/acc_persons/members/${adminId}`, { role: 'member' });
  expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 0 });
  const namedId = await addMember(service, customerId, NAMED, 'member');
  const named = await credentialsOfPerson(service, acme, NAMED);
  await present(named['a link']).approve(wait);
  expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 1 });
  await acme.cp('DELETE', `/v1/workspaces/acc_persons/members/${namedId}`);
  expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 0 });
  expect((await present(named['a link']).approve(wait)).status).toBe(404);
});

// Guards against: a viewer whom a gate names by address, and who reads addresses that take answers by the link of before.
test('a link of somebody who became a viewer opens nothing', async () => {
  const id = await addMember(service, acme.caller.customerId, NAMED_TOO, 'member');
  const { id: waitId, revision } = await atGate('two-of-admins');
  const { customerId } = acme.caller;
  const link = await service.services.actionLinks.issue({ customerId, waitId, revision, recipient: NAMED_TOO });
  const statusOf = async () => (await fetch(service.baseUrl + new URL(present(link).url).pathname)).status;
  expect(await statusOf()).toBe(200);
  await CHANGES['made a viewer'](id);
  expect(await statusOf()).toBe(404);
});

// Guards: an Idempotency-Key is its sender's: the same key of a second approver is no answer to them, and takes none away.
test('an idempotency key belongs to whoever sent it', async () => {
  const wait = await atGate('two');
  const key = { 'idempotency-key': 'approve-it' };
  expect(await present(ana['a session']).approve(wait, key)).toEqual({ status: 200 });
  expect(await present(ana['a session in capitals']).approve(wait, key)).toEqual({ status: 200 });
  expect(await present(ben['a session']).approve(wait, key)).toEqual({
    status: 409,
    problem: 'idempotency_key_reused',
  });
  expect(await stateOf(wait)).toEqual({ status: 'open', approvals: 1 });
  expect(await present(ben['a session']).approve(wait, { 'idempotency-key': 'mine' })).toEqual({ status: 200 });
  expect(await stateOf(wait)).toMatchObject({ status: 'settled' });
});

// Guards: an answer is in the audit log by whichever credential it came, under the name of that credential.
test('every answer is in the audit log', async () => {
  const wait = await atGate('two');
  for (const credential of Object.values(ana)) await credential.approve(wait);
  const { body } = await acme.cp('GET', '/v1/audit-log?action=inbox.answer&limit=100');
  const told = body.data.filter(({ target }: { target: { wait_id?: string } }) => target.wait_id === wait.id);
  expect(told.map(({ actor, status }: { actor: string; status: number }) => `${actor} ${status}`).sort()).toEqual(
    Object.values(ana)
      .map(({ actor }) => `${actor} 200`)
      .sort(),
  );
});

// Guards: lists say whose a key is, also of keys that are revoked by now.
test('a list of keys says who made each', async () => {
  const { body } = await acme.cp('GET', '/v1/api-keys');
  const made = new Map(
    body.data.map(({ id, made_by }: { id: number; made_by: string | null }) => [`api-key:${id}`, made_by]),
  );
  for (const credential of Object.values(ana).filter(({ isService }) => isService))
    expect(made.get(credential.actor)).toBe(ANA);
});
