import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { demandIn, otpHeaders } from '../../support/service/otp.ts';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_audited');
});
afterAll(() => service.close());

const log = async (query = '', of = tenant) => (await of.cp('GET', `/v1/audit-log${query}`)).body;
const last = async () => (await log('?limit=1')).data[0];

describe('the audit log', () => {
  // Guards: an entry says who changed what and when, and the id of what was made.
  test('tells of a change', async () => {
    const { body } = await tenant.cp('POST', '/v1/api-keys', { name: 'build server' });
    expect(await last()).toEqual({
      id: expect.any(Number),
      at: expect.stringMatching(/Z$/),
      actor: tenant.caller.actor,
      action: 'api-keys.create',
      target: { id: body.id },
      change: { name: 'build server' },
      status: 201,
    });
    await tenant.cp('DELETE', `/v1/api-keys/${body.id}`);
    expect(await last()).toMatchObject({ action: 'api-keys.revoke', target: { id: body.id }, change: {} });
  });

  // Guards: changes by the public API are recorded too, under the id of the key.
  test('tells of a change by an API key', async () => {
    await tenant.api('POST', '/v1/webhooks', { url: 'https://hooks.example.com/services/CANARY-PATH?k=CANARY-QUERY' });
    const entry = await last();
    expect(entry).toMatchObject({
      action: 'webhooks.create',
      actor: expect.stringMatching(/^api-key:\d+$/),
      status: 201,
    });
    expect(entry.change).toEqual({ url: 'https://hooks.example.com/***', events: ['*'] });
  });

  // Guards: a refused change is recorded with its status; a request that is invalid or has no credential is not.
  test('tells of refusals', async () => {
    const { total } = (await log()).meta;
    expect((await tenant.cp('DELETE', '/v1/agents/nothing')).status).toBe(404);
    expect(await last()).toMatchObject({ action: 'agents.delete', target: { slug: 'nothing' }, status: 404 });
    expect((await tenant.cp('POST', '/v1/api-keys', {})).status).toBe(400);
    expect((await call(`${service.baseUrl}/api/v1/cp/v1/api-keys`, 'POST', {}, { name: 'x' })).status).toBe(401);
    expect((await log()).meta.total).toBe(total + 1);
  });

  // Guards: starting a run makes no entry.
  test('has nothing of runs', async () => {
    const { total } = (await log()).meta;
    expect((await tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello' })).status).toBe(201);
    expect((await log()).meta.total).toBe(total);
  });

  // Guards: the demand for a code makes no entry; the change with the right code makes one, and a wrong code another.
  test('has one entry of a confirmed change', async () => {
    const path = '/v1/integrations/smtp/credentials/password';
    const { total } = (await log()).meta;
    const put = (headers?: Record<string, string>) => tenant.cp('PUT', path, { value: 'CANARY-VALUE' }, headers);
    const asked = await put();
    expect(asked.status).toBe(403);
    expect((await log()).meta.total).toBe(total);
    const right = otpHeaders(demandIn(asked).challenge_id);
    const wrong = Object.fromEntries(
      Object.entries(right).map(([name, v]) => [name, /code/i.test(name) ? 'wrong!' : v]),
    );
    expect((await put(wrong)).status).toBe(403);
    expect(await last()).toMatchObject({ action: 'integrations.setCredential', status: 403 });
    expect((await put(right)).status).toBe(200);
    expect(await last()).toMatchObject({
      target: { slug: 'smtp', kind: 'password' },
      change: { value: '***' },
      status: 200,
    });
    expect((await log()).meta.total).toBe(total + 2);
  });

  // Guards: the log contains no secret and no content, wherever a body has one, because many may read it.
  test('keeps no secret and no content', async () => {
    const canary = (n: number) => `CANARY-${n}`;
    await tenant.cp('POST', '/v1/tools', {
      slug: 'hook',
      description: 'Calls a hook.',
      kind: 'webhook',
      schema: { type: 'object' },
      body: { url: `https://example.com/${canary(1)}`, headers: { Authorization: `Bearer ${canary(2)}` } },
    });
    await tenant.cp('POST', '/v1/agents', { slug: 'poet', model: 'auto', prompt: canary(3), description: 'Writes.' });
    await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content: canary(4), meta: { of: canary(5) } });
    await tenant.cp('POST', '/v1/skills', { slug: 'canary', name: 'A skill', prompt_addendum: canary(6) });
    const job = await tenant.cp('POST', '/v1/scheduled-jobs', {
      name: 'job',
      cron: '0 6 1 1 *',
      agent_slug: 'assistant',
      brief: canary(7),
    });
    expect(job.status).toBe(201);
    const all = JSON.stringify((await log('?limit=500')).data);
    expect(all).not.toContain('CANARY');
    expect(all).not.toContain(tenant.apiKey);
    for (const kept of ['"description":"Writes."', '"model":"auto"', '"prompt":"***"']) expect(all).toContain(kept);
    const stored = await service.runtime.db.rows<{ text: string }>(sql`select a::text as text from audit_log a`);
    expect(stored.map(({ text }) => text).join()).not.toContain('CANARY');
  });

  // Guards: the entry is written before the change, so that a process which dies in between leaves an entry with an
  // unknown outcome.
  test('tells of a change whose outcome is unknown', async () => {
    const { trail } = service.services.audit;
    await trail.open('agents.update', { caller: tenant.caller, params: { slug: 'poet' }, query: undefined, body: {} });
    expect(await last()).toMatchObject({ action: 'agents.update', target: { slug: 'poet' }, status: null });
  });

  // Guards: a change is made and answered although its outcome cannot be recorded.
  test('does not fail what it tells of', async () => {
    await expect(service.services.audit.trail.close([2 ** 60], 201)).resolves.toBeUndefined();
  });

  // Guards: the log is listed newest first, with filters and pages.
  test('is read in parts', async () => {
    const since = new Date().toISOString();
    await tenant.cp('PATCH', '/v1/agents/poet', { description: 'Writes verse.' });
    await tenant.cp('DELETE', '/v1/agents/poet?force=true');
    const both = await log(`?since=${encodeURIComponent(since)}`);
    expect(both.data.map(({ action }: { action: string }) => action)).toEqual(['agents.delete', 'agents.update']);
    const one = await log(`?since=${encodeURIComponent(since)}&limit=1&offset=1`);
    expect(one).toEqual({ data: [both.data[1]], meta: { total: 2, limit: 1, offset: 1 } });
    expect((await log('?action=webhooks.create')).meta.total).toBe(1);
    expect((await log('?actor=nobody')).meta.total).toBe(0);
    for (const bad of ['limit=0', 'limit=501', 'offset=-1', 'since=yesterday', 'actor=%00']) {
      expect((await tenant.cp('GET', `/v1/audit-log?${bad}`)).status).toBe(422);
    }
  });

  // Guards: it is for owners and admins, each of their own workspace.
  test("is an admin's, and a workspace's own", async () => {
    const member = `service_session=${sessionFor(tenant.caller, 'member')}`;
    const refused = await call(`${service.baseUrl}/api/v1/cp/v1/audit-log`, 'GET', { cookie: member });
    expect(refused).toMatchObject({ status: 403, body: { detail: 'admin_required' } });
    expect((await log('', await service.tenant('acc_other'))).data).toEqual([]);
  });
});
