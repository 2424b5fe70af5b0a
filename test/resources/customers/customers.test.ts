/** GET /v1/customers: every workspace for the operator's admins, their own for those of a tenant. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let operator: Tenant;
let acme: Tenant;
let small: Tenant;

beforeAll(async () => {
  service = await startTestService();
  operator = await service.tenant('acc_internal', 'internal');
  acme = await service.tenant('acc_acme');
  small = await service.tenant('acc_small_100%', 'free');
  await acme.run({ agent: 'writer', prompt: 'Use something.' });
  await small.run({ agent: 'writer', prompt: 'Use something.' });
  await small.cp('POST', '/v1/agents', { slug: 'own', model: 'auto', prompt: 'You help.' });
  await small.cp('POST', '/v1/skills', { slug: 'own', name: 'Own' });
  await small.cp('POST', '/v1/memory/entries', { type: 'note', content: 'Known.' });
  const { body } = await small.cp('POST', '/v1/api-keys', { name: 'second' });
  await small.cp('DELETE', `/v1/api-keys/${body.id}`);
  await service.runtime.db.rows(sql`
    insert into workspace_members (id, customer_id, email, role, invited_by)
    values (gen_random_uuid(), 'small-100', 'a@example.com', 'owner', 'x')`);
  await service.runtime.db.rows(sql`
    insert into wallet_ledger (customer_id, key, delta_usd_micros, balance_after_usd_micros, kind)
    values ('small-100', 'test', 5000000, 5000000, 'topup')`);
});
afterAll(() => service.close());

const list = async (tenant: Tenant, query = '') => (await tenant.cp('GET', `/v1/customers${query}`)).body;
interface Row {
  customer_id: string;
}
const ids = async (tenant: Tenant, query?: string) =>
  (await list(tenant, query)).data.map((row: Row) => row.customer_id);

// Guards: usage is counted as the caps count it: revoked keys are left out, and skills are no memories.
test('tells what a workspace uses and spends', async () => {
  const { body: costs } = await small.cp('GET', '/v1/runs/costs?window=30d');
  const { data } = await list(operator, '?plan=free');
  expect(data).toEqual([
    {
      customer_id: 'small-100',
      identity_workspace_id: 'acc_small_100%',
      plan: 'free',
      plan_in_force: 'free',
      tier: 'free',
      status: 'ready',
      member_count: 1,
      usage: {
        runs_today: { current: 1, limit: 100 },
        runs_30d: 1,
        api_keys: { current: 1, limit: 2 },
        agents: { current: 1, limit: 3 },
        custom_tools: { current: 0, limit: 5 },
        custom_skills: { current: 1, limit: 10 },
        cold_memory_entries: { current: 1, limit: 1_000 },
      },
      spend: { cost_30d_usd: costs.meta.total_cost_usd, wallet_balance_usd_micros: 5_000_000 },
      last_activity_at: expect.any(String),
      created_at: expect.any(String),
      ready_at: expect.any(String),
      archived_at: null,
    },
  ]);
  const [acmes] = (await list(acme)).data;
  expect(acmes.usage.runs_today).toEqual({ current: 1, limit: null });
});

// Guards: an admin of a tenant learns nothing of another tenant, whatever is asked for.
test("shows a tenant's admin that tenant alone", async () => {
  for (const query of ['', '?q=small', '?q=%25', '?plan=free', '?offset=1', '?customer_id=small-100']) {
    const body = await list(acme, query);
    expect(body.meta.total).toBeLessThanOrEqual(1);
    expect(JSON.stringify(body)).not.toMatch(/small|internal"/);
  }
  expect(await ids(acme)).toEqual(['acme']);
});

// Guards: members are no admins, here as everywhere.
test('is for admins', async () => {
  const cookie = `service_session=${sessionFor(acme.caller, 'member')}`;
  const answer = await call(`${service.baseUrl}/api/v1/cp/v1/customers`, 'GET', { cookie });
  expect(answer).toMatchObject({ status: 403, body: { detail: 'admin_required' } });
});

// Guards: customers are listed newest first in pages without gaps; a search takes its text literally; archived
// workspaces are listed too.
test('is searched and paged', async () => {
  const all = await ids(operator);
  expect(all).toEqual(['small-100', 'acme', 'internal']);
  expect([...(await ids(operator, '?limit=2')), ...(await ids(operator, '?limit=2&offset=2'))]).toEqual(all);
  expect(await ids(operator, '?q=ACM')).toEqual(['acme']);
  expect(await ids(operator, '?q=100%25')).toEqual(['small-100']);
  expect(await ids(operator, '?q=%5C')).toEqual([]);
  await service.runtime.db.rows(sql`
    update workspaces set status = 'archived', archived_at = now() where customer_id = 'acme'`);
  expect((await list(operator, '?q=acme')).data[0]).toMatchObject({ status: 'archived' });
  expect(await list(operator, '?offset=5')).toEqual({ data: [], meta: { total: 3, limit: 50, offset: 5 } });
});

// Guards: bad input lists what is wrong.
test.each(['limit=0', 'limit=501', 'offset=-1', 'plan=gold', 'q=%00', 'q=a&q=b'])('refuses %s', async (query) => {
  expect((await operator.cp('GET', `/v1/customers?${query}`)).status).toBe(422);
});
