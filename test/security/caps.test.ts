/** Every cap of every plan, at its edge: what arrives at once, by whichever way, comes to the cap and no further. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createScheduledJobActivities } from '../../activities/scheduled-jobs.ts';
import { newRunId } from '../../src/platform/core/ids.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { capOf, PLANS, tierOf, type CappedResource, type Plan } from '../../src/resources/workspaces/model.ts';
import { confirmed } from '../support/service/otp.ts';
import { eventsOf, tool, typesOf } from '../support/fixtures/runs.ts';
import { sized, tried } from '../support/runner/sizes.ts';
import { startTestService, type Answer, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.close());

interface Capped {
  /** Makes this many beside the API, as if long ago. */
  fill(customerId: string, count: number): Promise<unknown>;
  create(tenant: Tenant, n: number): Promise<Answer>;
  /** Gives the place of one back; a run of the day keeps it. */
  free?(tenant: Tenant, made: Answer['body']): Promise<Answer>;
}

const rows = (statement: ReturnType<typeof sql>) => service.runtime.db.rows(statement);
const upTo = (count: number) => sql`generate_series(1, ${count}::int) n`;
const slugged = (resource: string) => (tenant: Tenant, made: Answer['body']) =>
  tenant.cp('DELETE', `/v1/${resource}/${made.slug}`);

/** One row a cap: another one does not compile without its row. */
const CAPPED: Record<CappedResource, Capped> = {
  runs_per_day: {
    fill: (customerId, count) =>
      rows(sql`
        insert into usage_counters (customer_id, resource, day, used)
        values (${customerId}, 'runs_per_day', to_char(now() at time zone 'utc', 'YYYY-MM-DD'), ${count})`),
    create: (tenant, n) => (n % 2 ? tenant.api : tenant.cp)('POST', '/v1/runs', { agent: 'writer', prompt: 'Write.' }),
  },
  api_keys: {
    // Less the one that every tenant of these tests comes with.
    fill: (customerId, count) =>
      rows(sql`
        insert into api_keys (customer_id, name, key_hash, key_prefix)
        select ${customerId}, 'filled', ${customerId} || n, 'svc_fill' from ${upTo(count - 1)}`),
    create: (tenant, n) => tenant.cp('POST', '/v1/api-keys', { name: `key ${n}` }),
    free: (tenant, { id }) => tenant.cp('DELETE', `/v1/api-keys/${id}`),
  },
  agents: {
    fill: (customerId, count) =>
      rows(sql`
        insert into agents (customer_id, slug, prompt, model)
        select ${customerId}, 'filled-' || n, 'Work.', 'claude-haiku-4-5' from ${upTo(count)}`),
    create: (tenant, n) =>
      tenant.cp('POST', '/v1/agents', { slug: `agent-${n}`, model: 'claude-haiku-4-5', prompt: 'Work.' }),
    free: slugged('agents'),
  },
  custom_tools: {
    fill: (customerId, count) =>
      rows(sql`
        insert into tools (customer_id, slug, description, kind, shape, effect, sensitive, schema, sealed_body)
        select ${customerId}, 'filled-' || n, 'Filled', 'stub', t.shape, 'read', false, '{}', t.sealed_body
        from ${upTo(count)}, (select shape, sealed_body from tools where customer_id = 'model' limit 1) t`),
    create: (tenant, n) =>
      tenant.cp('POST', '/v1/tools', {
        slug: `tool-${n}`,
        description: 'A stub',
        kind: 'stub',
        schema: { type: 'object', properties: {} },
        body: { result: 'ok' },
      }),
    free: slugged('tools'),
  },
  custom_skills: {
    fill: (customerId, count) => fillMemory(customerId, 'skill', count),
    create: (tenant, n) => tenant.cp('POST', '/v1/skills', { slug: `skill-${n}`, name: 'A skill' }),
    free: slugged('skills'),
  },
  cold_memory_entries: {
    fill: (customerId, count) => fillMemory(customerId, 'note', count),
    create: (tenant, n) => tenant.cp('POST', '/v1/memory/entries', { type: 'note', content: `Note ${n}.` }),
    free: (tenant, { id }) => confirmed(tenant, 'DELETE', `/v1/memory/entries/${id}`),
  },
  webhook_endpoints: {
    fill: (customerId, count) =>
      rows(sql`
        insert into webhook_subscriptions (customer_id, url, events, sealed_secret)
        select ${customerId}, 'https://example.com/' || n, '{*}', 'sealed' from ${upTo(count)}`),
    create: (tenant, n) => tenant.api('POST', '/v1/webhooks', { url: `https://example.com/hook-${n}` }),
    free: (tenant, { id }) => tenant.api('DELETE', `/v1/webhooks/${id}`),
  },
  output_destinations: {
    fill: (customerId, count) =>
      rows(sql`
        insert into output_destinations (id, customer_id, name, kind, config)
        select gen_random_uuid(), ${customerId}, 'filled ' || n, 'webhook', '{"url": "https://example.com"}'
        from ${upTo(count)}`),
    create: (tenant, n) =>
      tenant.cp('POST', '/v1/output-destinations', {
        name: `destination ${n}`,
        kind: 'webhook',
        config: { url: 'https://example.com/hook' },
      }),
    free: (tenant, { id }) => tenant.cp('DELETE', `/v1/output-destinations/${id}`),
  },
  scheduled_jobs: {
    fill: (customerId, count) =>
      rows(sql`
        insert into scheduled_jobs (customer_id, name, cron, agent_slug, brief)
        select ${customerId}, 'filled ' || n, '0 9 * * *', 'writer', 'Write.' from ${upTo(count)}`),
    create: (tenant, n) =>
      tenant.cp('POST', '/v1/scheduled-jobs', {
        name: `job ${n}`,
        cron: '0 9 * * *',
        agent_slug: 'writer',
        brief: 'Write.',
      }),
    free: (tenant, { id }) => tenant.cp('DELETE', `/v1/scheduled-jobs/${id}`),
  },
  heartbeats: {
    fill: (customerId, count) =>
      rows(sql`
        insert into heartbeats (id, customer_id, name, agent_slug, prompt, interval_s)
        select gen_random_uuid(), ${customerId}, 'filled ' || n, 'writer', 'Write.', 3600 from ${upTo(count)}`),
    create: (tenant, n) =>
      tenant.cp('POST', '/v1/heartbeats', {
        name: `heartbeat ${n}`,
        agent_slug: 'writer',
        prompt: 'Write.',
        interval_s: 3_600,
      }),
    free: (tenant, { id }) => tenant.cp('DELETE', `/v1/heartbeats/${id}`),
  },
};
const RESOURCES = Object.keys(CAPPED) as CappedResource[];
const fillMemory = (customerId: string, type: string, count: number) =>
  rows(sql`
    insert into memory_entries (customer_id, type, slug, name, content)
    select ${customerId}, ${type}, 'filled-' || n, 'Filled', 'Filled.' from ${upTo(count)}`);

let tenants = 0;
/** @param room places that are left; without a cap nothing is filled */
async function tenantWith(plan: Plan, resource: CappedResource, room: number): Promise<Tenant> {
  // Made with room, then put on its plan: the tenant's own key would not fit.
  const tenant = await service.tenant(`acc_cap${tenants++}`, plan);
  const cap = capOf(plan, resource);
  if (cap !== null && cap > room) await CAPPED[resource].fill(tenant.caller.customerId, cap - room);
  return tenant;
}
const refusal = (plan: Plan, resource: CappedResource) => {
  const cap = present(capOf(plan, resource));
  const detail = { code: 'plan_limit_exceeded', resource, current: cap, limit: cap, tier: tierOf(plan) };
  return { status: 403, body: { detail } };
};

/** One plan a tier. */
const TIERED = PLANS.filter((plan) => !plan.endsWith('_byo') && plan !== 'internal');
const SIDE_BY_SIDE = sized(8, 50);

describe.each(TIERED)('on the plan %s', (plan) => {
  beforeAll(async () => {
    // What custom tools are filled from.
    const known = await rows(sql`select 1 from workspaces where customer_id = 'model'`);
    if (known.length > 0) return;
    const made = await CAPPED.custom_tools.create(await service.tenant('acc_model'), 0);
    expect(made.status).toBe(201);
  });

  // Guards: each cap is exact under simultaneous creates, the refusal names it, and a deletion frees a place.
  test.each(RESOURCES)('%s comes to its cap and no further', async (resource) => {
    const room = resource === 'api_keys' && plan === 'free' ? 1 : 2;
    const tenant = await tenantWith(plan, resource, room);
    const { create, free } = CAPPED[resource];
    const answers = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, n) => create(tenant, n)));
    const made = answers.filter(({ status }) => status === 201);
    const isCapped = capOf(plan, resource) !== null;
    tried('creates at a cap', answers.length);
    expect(made).toHaveLength(isCapped ? room : SIDE_BY_SIDE);
    for (const { status, body } of answers.filter((answer) => !made.includes(answer))) {
      expect({ status, body }).toEqual(refusal(plan, resource));
    }
    if (!isCapped || !free) return;
    expect((await free(tenant, first(made).body)).status).toBeLessThan(300);
    const again = await Promise.all([create(tenant, 98), create(tenant, 99)]);
    expect(again.map(({ status }) => status).sort()).toEqual([201, 403]);
  });
});

describe('a smaller plan', () => {
  // Guards: a smaller plan takes nothing away from a workspace, which can add nothing until there is room.
  test.each(RESOURCES)('keeps what there is of %s', async (resource) => {
    const tenant = await tenantWith('free', resource, 0);
    const { customerId } = tenant.caller;
    const setPlan = (plan: Plan) =>
      rows(sql`
        update workspaces set plan = ${plan}::workspace_plan, granted_plan = ${plan}::workspace_plan
        where customer_id = ${customerId}`);
    await setPlan('starter_hosted');
    const { create, free } = CAPPED[resource];
    const made = await create(tenant, 1);
    expect(made.status).toBe(201);
    expect((await create(tenant, 2)).status).toBe(201);
    await setPlan('free');
    const { status, body } = await create(tenant, 3);
    const { limit } = refusal('free', resource).body.detail;
    expect({ status, body }).toMatchObject({ status: 403, body: { detail: { resource, limit, tier: 'free' } } });
    expect(body.detail.current).toBeGreaterThanOrEqual(limit);
    if (!free) return;
    expect((await free(tenant, made.body)).status).toBeLessThan(300);
    expect((await create(tenant, 4)).status).toBe(403);
  });
});

describe('every other way', () => {
  // Guards: retries, scheduled runs and runs that an agent spawns count against the daily cap too.
  test('to a run is under the cap of the day', async () => {
    const tenant = await tenantWith('free', 'runs_per_day', 1);
    const { customerId } = tenant.caller;
    const { run_id, status } = await tenant.run({
      agent: 'assistant',
      prompt: tool('spawn_run', { agent: 'writer', prompt: 'Write.' }),
    });
    expect(status).toBe('succeeded');
    expect(await typesOf(tenant, run_id)).not.toContain('agent_run_started');
    const told = (await eventsOf(tenant, run_id)).find(({ event_type }) => event_type === 'tool_result');
    expect(told).toMatchObject({ status: 'failed' });

    const retried = await tenant.cp('POST', `/v1/runs/${run_id}/retry`);
    expect({ status: retried.status, body: retried.body }).toEqual(refusal('free', 'runs_per_day'));

    const job = { name: 'nightly', agent_slug: 'writer', cron: '0 3 * * *', brief: 'Write.' };
    const scheduled = await tenant.cp('POST', '/v1/scheduled-jobs', job);
    expect(scheduled).toMatchObject({ status: 201 });
    const { stores } = service.services;
    const { acceptScheduledRun } = createScheduledJobActivities({
      ...stores,
      builtin: service.services.builtinJobs,
      log: service.runtime.log,
    });
    const [{ n }] = (await rows(sql`select n from scheduled_jobs where customer_id = ${customerId}`)) as [
      { n: number },
    ];
    const runId = newRunId();
    expect(await acceptScheduledRun({ customerId, runId, source: { kind: 'job', n } })).toBeUndefined();
    expect((await tenant.cp('GET', '/v1/runs')).body.meta.total).toBe(1);
  });

  // Guards: entries that an agent writes and entries that supersede others count against the cap.
  test('to a memory entry is under its cap', async () => {
    const tenant = await tenantWith('free', 'cold_memory_entries', 1);
    const { body: entry } = await CAPPED.cold_memory_entries.create(tenant, 1);
    const superseded = await tenant.cp('POST', `/v1/memory/entries/${entry.id}/supersede`, { content: 'Newer.' });
    expect({ status: superseded.status, body: superseded.body }).toEqual(refusal('free', 'cold_memory_entries'));
    const { run_id } = await tenant.run({ agent: 'assistant', prompt: tool('memory_write', { content: 'A note.' }) });
    const told = present((await eventsOf(tenant, run_id)).find(({ event_type }) => event_type === 'tool_result'));
    expect(told.payload['result_preview']).toContain('full (1000 of 1000 entries)');
  });
});
