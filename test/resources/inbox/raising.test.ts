/**
 * A project that ran out of money: that its wait names every limit that stops it, that an answer raises these and no other,
 * by whoever may, and that the project then goes on. The model costs nothing for input and a cent a token of output, of
 * which a reply may have a hundred: a dollar is held for a call.
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLog } from '../../../src/platform/core/log.ts';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import type { Role } from '../../../src/platform/core/rights.ts';
import { answer as reply, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import {
  agentStep,
  command,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  projectOf,
  startProject,
  tasksOf,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { doBehind } from '../../support/database/locks.ts';
import { sweepEvents } from '../../support/database/sweep.ts';
import { codeOf, mailbox } from '../../support/service/otp.ts';
import { startPricedService } from '../../support/service/priced.ts';
import { sessionFor, tenantOf, type Tenant, type TestService } from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';
import { answer, detailOf, untilWait } from './waits.ts';

const LIVE = { BILLING_MODE: 'live', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };

let provider: OpenAiServer;
let close: () => Promise<void>;
let service: TestService;
let acme: Tenant;
let keyId: number;
let tenants = 0;

beforeAll(async () => {
  ({ service, provider, close } = await startPricedService(
    {},
    createLog({ level: 'debug', pretty: false, destination: mailbox }),
  ));
});
beforeEach(async () => {
  provider.reset();
  provider.otherwise(reply('Done.'));
  acme = await service.tenant(`acc_raised${++tenants}`);
  [{ id: keyId }] = (await acme.cp('GET', '/v1/api-keys')).body.data;
  await makeTemplate(acme, 'one', [phaseSpec('text', [agentStep('a')])]);
  await makeTemplate(acme, 'poor-phase', [phaseSpec('text', [agentStep('a')], { cost_budget_usd: '0.4' })]);
  const parts = Array.from({ length: 3 }, (_, n) => agentStep(`part-${n}`, { depends_on: [] }));
  await makeTemplate(acme, 'three-at-once', [phaseSpec('text', parts)]);
});
afterAll(() => close?.());

const cap = (id: string, limit_usd: string) => acme.cp('PUT', `/v1/cost/caps/${id}`, { limit_usd });
async function limitsNow(): Promise<Record<string, string>> {
  const { body } = await acme.cp('GET', '/v1/cost/caps');
  return Object.fromEntries(body.data.map((row: { id: string; limit_usd: string }) => [row.id, row.limit_usd]));
}
/** With the key, so that its caps count. */
async function startWithKey(slug: string, more: object = {}): Promise<string> {
  const { status, body } = await acme.api('POST', '/v1/projects', {
    workflow_slug: slug,
    brief: 'Bread.',
    title: 'Bread',
    ...more,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.project_id;
}
async function untilStopped(id: string) {
  await untilProject(acme, id, 'paused');
  const wait = await untilWait(acme, { project_id: id, kind: 'paused' });
  return { wait, detail: await detailOf(acme, wait.id) };
}
const raise = (by: Tenant, wait: { id: string; revision: number }, raise_by_usd: string) =>
  answer(by, wait, { answer: 'raise_budget', raise_by_usd });
const seenBy = async (who: Tenant, { id }: { id: string }) => {
  const detail = await detailOf(who, id);
  return {
    limits: detail['limits'],
    choice: detail['choices'].find((each: { answer: string }) => each.answer === 'raise_budget'),
  };
};
function somebody(role: Role): Tenant {
  const caller = { ...acme.caller, actor: `${role}@acme.example` };
  return tenantOf(service.baseUrl, caller, acme.apiKey, sessionFor(caller, role));
}

const CAPS = ['workspace', 'agent.writer', 'api-key'].flatMap((whose) => [`${whose}.month`, `${whose}.day`]);

describe('a cap', () => {
  // Guards against: a raise of the project's budget, or of nothing, where a cap stopped the project, which then paused again.
  // The wait says which cap it is, with what is left and what is needed, and the project ends with what was raised.
  test.each(CAPS)('%s is named, raised, and the project goes on', async (whose) => {
    const id = whose.replace('api-key', `api-key.${keyId}`);
    await cap(id, '0.000001');
    const project = await startWithKey('one', { cost_budget_usd: '2' });
    const { wait, detail } = await untilStopped(project);
    const [kind, ...rest] = id.split('.');
    expect(detail).toMatchObject({
      pause_reason: 'budget_breached',
      limits: [
        {
          name: id,
          kind,
          of: rest.length === 2 ? rest[0] : null,
          period: rest.at(-1),
          limit_usd: '0.000001',
          spent_usd: '0',
          held_usd: '0',
          free_usd: '0.000001',
          needs_usd: '1',
          raised_by: 'admins',
          may_raise: true,
        },
      ],
    });
    expect((await seenBy(acme, wait)).choice).toMatchObject({ at_least_usd: '0.999999', refused: null });
    const events = await projectEventsOf(acme, project);
    expect(events.find(({ topic }) => topic === 'cost_budget_breached')?.payload_jsonb).toMatchObject({
      needs_usd: '1',
      limits: [{ limit: id, free_usd: '0.000001', needs_usd: '1' }],
    });
    expect(await raise(acme, wait, '100')).toMatchObject({ status: 200, body: { answer: 'raise_budget', limits: [] } });
    await untilProject(acme, project, 'completed');
    expect(await limitsNow()).toEqual({ [id]: '100.000001' });
    expect(await projectOf(acme, project)).toMatchObject({ cost_budget_usd: '2' });
    const started = (await projectEventsOf(acme, project)).findLast(({ topic }) => topic === 'project_started');
    expect(started?.payload_jsonb).toMatchObject({ raised: [{ limit: id, limit_usd: '0.000001', by_usd: '100' }] });
  });

  // Guards against: a stop that nothing lifts, because retention has deleted the events of a project that waits for long.
  test('is raised when the events of the project are gone', async () => {
    await cap('workspace.month', '0.5');
    const id = await startProject(acme, 'one', { cost_budget_usd: '0.1' });
    const before = (await untilStopped(id)).detail;
    await sweepEvents(service.runtime.db);
    expect(await projectEventsOf(acme, id)).toEqual([]);
    const { wait, detail } = await untilStopped(id);
    expect(detail['limits']).toEqual(before['limits']);
    expect(await raise(acme, wait, '5')).toMatchObject({ status: 200, body: { answer: 'raise_budget' } });
    await untilProject(acme, id, 'completed');
    expect(await limitsNow()).toEqual({ 'workspace.month': '5.5' });
  });

  // Guards: who may not set a cap does not raise one by an answer, is told why before and after, and nothing is raised, not
  // the budget of the project either that they may raise.
  test.each(['member', 'viewer'] as const)('is not raised by a %s', async (role) => {
    await cap('workspace.month', '0.5');
    const id = await startProject(acme, 'one', { cost_budget_usd: '0.1' });
    const { wait } = await untilStopped(id);
    const them = somebody(role);
    const { limits, choice } = await seenBy(them, wait);
    expect(limits).toMatchObject([
      { name: 'project', raised_by: 'members', may_raise: role === 'member' },
      { name: 'workspace.month', raised_by: 'admins', may_raise: false },
    ]);
    expect(choice.refused).toMatch(/cap of the workspace a month has 0.5 USD left.*owners and admins raise it/);
    const refused = await raise(them, wait, '5');
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toMatch(
      role === 'viewer' ? /^read_only/ : /^admin_required: the cap of the workspace a month/,
    );
    expect(await limitsNow()).toEqual({ 'workspace.month': '0.5' });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', cost_budget_usd: '0.1' });
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open', revision: wait.revision });
    expect(await raise(somebody('admin'), wait, '5')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(await limitsNow()).toEqual({ 'workspace.month': '5.5' });
    expect(await projectOf(acme, id)).toMatchObject({ cost_budget_usd: '5.1' });
  });

  // Guards: the right counts as it is when the answer comes, also by a link that was mailed before.
  test('is raised by the link of an owner, and not of a member', async () => {
    const { customerId } = acme.caller;
    const email = 'ana@acme.example';
    await addMember(service, customerId, email, 'owner');
    await cap('workspace.day', '0.5');
    const id = await startProject(acme, 'one');
    const { wait } = await untilStopped(id);
    const link = await service.services.actionLinks.issue({
      customerId,
      waitId: wait.id,
      revision: wait.revision,
      recipient: email,
    });
    const path = service.baseUrl + new URL(present(link).url).pathname;
    const form = { answer: 'raise_budget', raise_by_usd: '5' };
    const visit = async (fields?: Record<string, string>) => {
      const response = await fetch(path, fields && { method: 'POST', body: new URLSearchParams(fields) });
      return { status: response.status, text: await response.text() };
    };
    const coded = async () => {
      const { text } = await visit(form);
      const challenge_id = itemAt(present(/name="challenge_id" value="([^"]+)"/.exec(text)), 1);
      return visit({ ...form, challenge_id, code: codeOf(challenge_id) });
    };
    const be = (role: Role) =>
      service.runtime.db.rows(
        sql`update workspace_members set role = ${role} where customer_id = ${customerId} and email = ${email}`,
      );

    await be('member');
    const shown = await visit();
    expect(shown.text).toContain(
      'Stopped by workspace.day: 0.5 of 0.5 USD left, 1 needed (owners and admins raise it)',
    );
    expect(shown.text).not.toContain('value="raise_budget"');
    expect(await coded()).toMatchObject({ status: 403, text: expect.stringContaining('owners and admins raise it') });
    expect(await limitsNow()).toEqual({ 'workspace.day': '0.5' });

    await be('owner');
    expect((await visit()).text).toContain('at least 0.5</label>');
    expect(await coded()).toMatchObject({ status: 200, text: expect.stringContaining('Answered: raise_budget') });
    await untilProject(acme, id, 'completed');
    expect(await limitsNow()).toEqual({ 'workspace.day': '5.5' });
  });
});

describe('several limits at once', () => {
  // Guards: each one is told, each one is raised, and those that are not short are not.
  test('are all named and raised', async () => {
    await cap('workspace.month', '0.7');
    await cap('workspace.day', '50');
    await cap('agent.writer.day', '0.2');
    await cap(`api-key.${keyId}.month`, '0.3');
    await cap('agent.reviewer.month', '0');
    const id = await startWithKey('poor-phase', { cost_budget_usd: '0.6' });
    const { wait, detail } = await untilStopped(id);
    const names = ['project', 'phase.text', 'agent.writer.day', `api-key.${keyId}.month`, 'workspace.month'];
    expect(detail['limits'].map(({ name }: { name: string }) => name)).toEqual(names);
    const breached = (await projectEventsOf(acme, id)).find(({ topic }) => topic === 'cost_budget_breached');
    expect(breached?.payload_jsonb).toMatchObject({
      limits: ['agent.writer.day', `api-key.${keyId}.month`, 'phase', 'project', 'workspace.month'].map((limit) => ({
        limit,
      })),
    });
    expect((await seenBy(acme, wait)).choice).toMatchObject({ at_least_usd: '0.8' });
    const before = await limitsNow();
    for (const little of ['0.1', '0.79999999']) {
      expect(await raise(acme, wait, little)).toMatchObject({
        status: 400,
        body: {
          detail: expect.stringMatching(
            /^raise_by_usd must be at least 0.8: .*cap of the agent writer a day has 0.2 USD left/,
          ),
        },
      });
    }
    expect(await limitsNow()).toEqual(before);
    expect(await raise(acme, wait, '0.8')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(await limitsNow()).toEqual({
      ...before,
      'workspace.month': '1.5',
      'agent.writer.day': '1',
      [`api-key.${keyId}.month`]: '1.1',
    });
    expect(await projectOf(acme, id)).toMatchObject({ cost_budget_usd: '1.4' });
    expect(await tasksOf(acme, id)).toMatchObject([{ cost_budget_usd: '1.2' }]);
  });

  // Guards: what the raise leaves short would stop the project again: each step that waits counts.
  test('steps at once need what all of them need', async () => {
    await cap('workspace.month', '0.5');
    const id = await startProject(acme, 'three-at-once');
    await untilProject(acme, id, 'paused');
    const wait = await untilWait(acme, { project_id: id, kind: 'paused' });
    const needs = async () => first((await detailOf(acme, wait.id))['limits'] as { needs_usd: string }[]).needs_usd;
    for (let looks = 0; (await needs()) !== '3'; looks++) expect(looks).toBeLessThan(200);
    expect(await raise(acme, wait, '2.4')).toMatchObject({ status: 400 });
    expect(await raise(acme, wait, '2.5')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect((await projectEventsOf(acme, id)).filter(({ topic }) => topic === 'project_paused')).toHaveLength(1);
  });

  // Guards: limits are looked at as they are when the answer comes. One that was raised by another way stops nothing any
  // more, one that was set since does.
  test('count as they are now', async () => {
    await cap('workspace.month', '0.5');
    const id = await startProject(acme, 'one', { cost_budget_usd: '2' });
    const { wait } = await untilStopped(id);
    await cap('workspace.month', '9');
    expect((await seenBy(acme, wait)).limits).toEqual([]);
    expect((await seenBy(acme, wait)).choice).toMatchObject({ refused: 'no limit stops it any more: resume it' });
    expect(await raise(acme, wait, '5')).toMatchObject({
      status: 409,
      body: { detail: 'no limit stops it any more: resume it' },
    });
    expect(await limitsNow()).toEqual({ 'workspace.month': '9' });
    await cap('agent.writer.month', '0.25');
    expect((await seenBy(acme, wait)).limits).toMatchObject([{ name: 'agent.writer.month' }]);
    expect(await raise(acme, wait, '1')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(await limitsNow()).toEqual({ 'workspace.month': '9', 'agent.writer.month': '1.25' });
    expect(await projectOf(acme, id)).toMatchObject({ cost_budget_usd: '2' });
  });

  // Guards: of two projects that one cap stopped the raise of one lets both go on: the other, at the same moment, adds nothing.
  test('two projects of one cap', async () => {
    await cap('workspace.month', '0.5');
    const ids = [await startProject(acme, 'one'), await startProject(acme, 'one')];
    const waits = await Promise.all(ids.map(async (id) => (await untilStopped(id)).wait));
    const { db } = service.runtime;
    const hold = () =>
      db.rows(sql`select id from budgets where id = ${`cap:${acme.caller.customerId}:workspace.month`} for update`);
    const both = () => Promise.all(waits.map((wait) => raise(acme, wait, '5')));
    const answers = await doBehind(db, hold, both, 2);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await limitsNow()).toEqual({ 'workspace.month': '5.5' });
    await command(
      acme,
      itemAt(
        ids,
        answers.findIndex(({ status }) => status === 409),
      ),
      'resume',
    );
    for (const id of ids) await untilProject(acme, id, 'completed');
  });
});

describe('an empty wallet', () => {
  // Guards: credit is bought and not given by an answer: nothing else is raised either, and the project goes on once it is
  // topped up.
  test('is topped up', async () => {
    const live = await startPricedService(LIVE);
    try {
      live.provider.otherwise(reply('Done.'));
      const rich = await live.service.tenant('acc_wallet');
      const { customerId } = rich.caller;
      await makeTemplate(rich, 'one', [phaseSpec('text', [agentStep('a')])]);
      const id = await startProject(rich, 'one', { cost_budget_usd: '0.5' });
      await untilProject(rich, id, 'paused');
      const wait = await untilWait(rich, { project_id: id, kind: 'paused' });
      expect((await detailOf(rich, wait.id))['limits']).toMatchObject([
        { name: 'project', may_raise: true },
        { name: 'wallet', kind: 'wallet', free_usd: '0', needs_usd: '1', raised_by: 'payment', may_raise: false },
      ]);
      expect(await raise(rich, wait, '5')).toMatchObject({
        status: 402,
        body: { detail: expect.stringMatching(/^the wallet has 0 USD left of 0 and 1 is needed: top it up/) },
      });
      expect(await projectOf(rich, id)).toMatchObject({ status: 'paused', cost_budget_usd: '0.5' });
      await live.service.services.stores.wallets.post({
        customerId,
        key: 'one',
        kind: 'topup',
        deltaUsdMicros: 3_000_000,
      });
      expect((await detailOf(rich, wait.id))['limits']).toMatchObject([{ name: 'project' }]);
      expect(await raise(rich, wait, '5')).toMatchObject({ status: 200 });
      await untilProject(rich, id, 'completed');
    } finally {
      await live.close();
    }
  });
});
