/** The inbox by the client: what waits, answered as it was seen. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, isProblem, type Client } from '../../client/src/index.ts';
import { first } from '../../src/platform/core/present.ts';
import { startProject, untilProject } from '../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { addMember } from '../resources/sign-in/people.ts';
import { asks, ASKER_AGENT, makeGates, memberOf, personOf, untilWait } from '../resources/inbox/waits.ts';

const ANA = 'ana@acme.example';
const BEN = 'ben@acme.example';
let service: TestService;
let tenant: Tenant;
let aos: Client;

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_client_inbox');
  await addMember(service, tenant.caller.customerId, tenant.caller.actor, 'owner');
  for (const email of [ANA, BEN]) await memberOf(service, tenant, email);
  const members = [tenant.caller.actor, ANA];
  await makeGates(tenant, { shared: { prompt: 'Is it good?', approvers: { members }, quorum: 2 } });
  await tenant.cp('POST', '/v1/agents', ASKER_AGENT);
  aos = createClient({ baseUrl: service.baseUrl, session: tenant.session });
});
afterAll(() => service?.close());

const clientOf = ({ session }: Tenant): Client => createClient({ baseUrl: service.baseUrl, session });
const listed = async (filter: Parameters<Client['inbox']['list']>[0]) => {
  const waits = [];
  for await (const wait of aos.inbox.list(filter)) waits.push(wait);
  return waits;
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (error: unknown) => (isProblem(error) ? error.code : String(error)),
  );

// Guards: each method does what its endpoint does, an answer names the revision that was seen by itself, and refusals come by their
// codes.
test('lists, shows, reminds of, hands over and answers what waits', async () => {
  const projectId = await startProject(tenant, 'shared');
  await untilWait(tenant, { project_id: projectId });
  const wait = first(await listed({ projectId, mine: true, kind: 'gate' }));
  expect(await aos.inbox.get(wait.id)).toMatchObject({ id: wait.id, prompt: 'Is it good?', votes: [] });
  expect(await aos.inbox.remind(wait.id)).toMatchObject({ reminders: 1 });
  expect(await codeOf(aos.inbox.remind(wait.id))).toBe('reminded_lately');
  expect(await codeOf(aos.inbox.answer({ ...wait, revision: wait.revision + 1 }, 'approve'))).toBe('changed_since');
  expect(await aos.inbox.answer(wait, 'approve', { comment: 'Good.' })).toMatchObject({ status: 'open', approvals: 1 });

  const until = new Date(Date.now() + 3_600_000);
  const [ana, ben] = [clientOf(personOf(service, tenant, ANA)), clientOf(personOf(service, tenant, BEN))];
  expect(await codeOf(ben.inbox.answer(wait, 'approve'))).toBe('not_an_approver');
  expect((await ana.inbox.delegate(wait.id, { to: BEN, until })).delegations).toMatchObject([{ from: ANA, to: BEN }]);
  expect(await ben.inbox.answer(wait, 'approve')).toMatchObject({ status: 'settled', settled_by: BEN });
  expect(await codeOf(aos.inbox.answer(wait, 'reject'))).toBe('already_answered');
  await aos.inbox.withdrawLinks(wait.id);
  await untilProject(tenant, projectId, 'completed');
  expect(await listed({ projectId })).toEqual([]);
  expect(await listed({ projectId, status: 'settled' })).toMatchObject([{ id: wait.id, comment: null }]);
});

// Guards: a question is answered with what its page asks for.
test('answers a question', async () => {
  const runId = await asks(tenant, 'Which colour?');
  await untilWait(tenant, { run_id: runId });
  const wait = first(await listed({ runId }));
  await aos.inbox.answer(wait, 'submit', { data: { answer: 'blue' } });
  expect((await aos.runs.open(runId).result()).output).toContain('blue');
});
