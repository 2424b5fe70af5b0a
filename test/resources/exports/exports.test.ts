/** Asking for archives, and getting them: by whom, how often, in which pieces, and for how long. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { exportFolder } from '../../../src/resources/exports/model.ts';
import { linesIn, unpack } from '../../support/archives/unpack.ts';
import { makeExport } from '../../support/fixtures/belongings.ts';
import {
  eventually,
  sessionFor,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { confirmed, demandIn } from '../../support/service/otp.ts';
import { download, downloadPart } from './download.ts';

let service: TestService;
let tenant: Tenant;
let exportId: string;
let whole: Buffer;
const path = '/v1/workspaces/acc_acme/exports';
const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_acme');
  await tenant.run({ prompt: 'Say hello.' });
  exportId = await makeExport(tenant);
  whole = await download(service, tenant, exportId);
});
afterAll(() => service?.close());

// Guards: everything of a workspace goes out to its owners alone, who confirm it.
test('only an owner gets an archive, with a code', async () => {
  const asked = await tenant.cp('POST', path);
  expect(demandIn(asked)).toMatchObject({ scope: 'workspaces.export:acc_acme' });
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const other = tenantOf(service.baseUrl, tenant.caller, tenant.apiKey, sessionFor(tenant.caller, role));
    for (const [method, at] of [
      ['POST', path],
      ['GET', path],
      ['GET', `${path}/${exportId}`],
      ['GET', `${path}/${exportId}/archive`],
      ['DELETE', `${path}/${exportId}`],
    ] as const) {
      const refused = await other.cp(method, at);
      expect({ role, method, at, status: refused.status }).toEqual({ role, method, at, status: 403 });
    }
  }
});

// Guards: a workspace has an archive of its own alone, whatever its people may do with the workspaces of others.
test('nobody gets the archive of another workspace, the operator neither', async () => {
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
  const operator = { workspaceId: 'acc_internal', customerId: 'internal', actor: 'owner@localhost' };
  const foreign = tenantOf(service.baseUrl, { ...tenant.caller, ...operator }, '', sessionFor(operator));
  for (const at of [path, `${path}/${exportId}`, `${path}/${exportId}/archive`]) {
    expect((await foreign.cp('GET', at)).status).toBe(404);
  }
  expect((await foreign.cp('POST', path)).status).toBe(404);
  const own = `/v1/workspaces/acc_internal/exports/${exportId}`;
  expect((await foreign.cp('GET', own)).status).toBe(404);
});

// Guards: a download (`exports.download`) that broke off goes on, over several parts of the store, and gives the same file.
test('a part of it can be downloaded', async () => {
  const { body } = await tenant.cp('GET', `${path}/${exportId}`);
  expect(body).toMatchObject({ status: 'ready', size_bytes: whole.length, progress: null, error_code: null });
  const cut = Math.floor(whole.length / 3);
  const first = await downloadPart(service, tenant, exportId, { range: `bytes=0-${cut - 1}` });
  expect(first.status).toBe(206);
  expect(first.headers.get('content-range')).toBe(`bytes 0-${cut - 1}/${whole.length}`);
  const etag = present(first.headers.get('etag'));
  const rest = await downloadPart(service, tenant, exportId, { range: `bytes=${cut}-`, 'if-range': etag });
  expect(rest.status).toBe(206);
  expect(Buffer.concat([first.bytes, rest.bytes]).equals(whole)).toBe(true);
  const tail = await downloadPart(service, tenant, exportId, { range: 'bytes=-10' });
  expect(tail.bytes.equals(whole.subarray(-10))).toBe(true);
  const another = await downloadPart(service, tenant, exportId, { range: `bytes=${cut}-`, 'if-range': '"another"' });
  expect([another.status, another.bytes.length]).toEqual([200, whole.length]);
  const behind = await downloadPart(service, tenant, exportId, { range: `bytes=${whole.length}-` });
  expect([behind.status, behind.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  const several = await downloadPart(service, tenant, exportId, { range: 'bytes=0-1,5-6' });
  expect(several.bytes.equals(whole)).toBe(true);
});

// Guards: who took everything out, when and which, is in the audit log, for each time that somebody did.
test('a download is in the audit log', async () => {
  await downloadPart(service, tenant, exportId, { range: 'bytes=0-9' });
  const { body } = await tenant.cp('GET', '/v1/audit-log?action=exports.download');
  expect(body.data[0]).toMatchObject({ action: 'exports.download', actor: tenant.caller.actor, status: 200 });
  expect(JSON.stringify(body.data[0])).toContain(exportId);
});

// Guards: the list shows the newest first, with what each has.
test('they are listed', async () => {
  const { body } = await tenant.cp('GET', path);
  expect(body.data[0]).toMatchObject({ id: exportId, status: 'ready', requested_by: tenant.caller.actor });
  expect(body.data[0].summary).toMatchObject({ tables: { runs: 1 }, files: 0, missing: 0 });
  expect(body.data[0].filename).toMatch(/^acc_acme-\d{12}\.tar\.gz$/);
});

// Guards: two who ask at once get one archive, and the second one is told.
test('one is made at a time', async () => {
  const other = await service.tenant('acc_busy');
  const [row] = await rows<{ id: string }>(sql`
    insert into workspace_exports (id, customer_id, requested_by, status, due_at)
    values (gen_random_uuid(), 'busy', 'somebody', 'running', now() + interval '1 hour') returning id`);
  const busy = '/v1/workspaces/acc_busy/exports';
  const refused = await other.cp('POST', busy);
  expect([refused.status, refused.headers.get('x-service-problem')]).toEqual([409, 'export_under_way']);
  const removed = await other.cp('DELETE', `${busy}/${present(row).id}`);
  expect(removed.body).toMatchObject({ status: 'removed' });
  expect((await confirmed(other, 'POST', busy)).status).toBe(201);
});

// Guards: housekeeping makes what was accepted and whose start was lost, and ends what has lost its workflow.
test('an export whose start was lost is made', async () => {
  await service.tenant('acc_lost');
  const [row] = await rows<{ id: string }>(sql`
    insert into workspace_exports (id, customer_id, requested_by, due_at)
    values (gen_random_uuid(), 'lost', 'somebody', now() - interval '1 hour') returning id`);
  const { id } = present(row);
  await service.services.exports.startLost(new AbortController().signal);
  await eventually(async () => {
    expect(await service.services.packing.store.find({ customerId: 'lost', exportId: id })).toMatchObject({
      status: 'ready',
    });
  });
  // The workflow closes a moment after the row says that the archive is ready.
  await eventually(async () => {
    await rows(sql`update workspace_exports set due_at = now() - interval '1 hour',
      status = case when status = 'ready' then 'running' else status end where id = ${id}`);
    await service.services.exports.startLost(new AbortController().signal);
    const found = await service.services.packing.store.find({ customerId: 'lost', exportId: id });
    expect(found).toMatchObject({ status: 'failed', errorCode: 'export_lost' });
  });
});

// Guards: an archive does not lie about for longer than it is said to, nor one that was taken back.
test('it is gone when its time is over, and when it is removed', async () => {
  const kept = await makeExport(tenant);
  await rows(sql`update workspace_exports set expires_at = now() - interval '1 second' where id = ${kept}`);
  await service.services.exports.removeExpired(new AbortController().signal);
  const gone = await downloadPart(service, tenant, kept);
  expect([gone.status, gone.headers.get('x-service-problem')]).toEqual([409, 'export_not_ready']);
  const { folder } = await service.services.packing.store.find({ customerId: 'acme', exportId: kept });
  await expect(service.services.files.get(`${present(folder)}/000000`)).rejects.toThrow('no file');
  expect((await tenant.cp('GET', `${path}/${exportId}`)).body).toMatchObject({ status: 'ready' });
});

// Guards: a try that breaks leaves nothing, and the next one makes one archive, without what one that was killed has stored.
test('a try that failed is made up for, and leaves no second archive', async () => {
  const { files } = service.services;
  const put = files.put;
  let failures = 0;
  let left = '';
  files.put = async (key, ...more) => {
    if (!key.startsWith('exports/acme/') || failures++ >= 2) return put.call(files, key, ...more);
    left = key.replace(/[^/]+(?=\/[^/]+$)/, 'killed');
    await put.call(files, left, ...more);
    throw new Error('the store is away');
  };
  try {
    const id = await makeExport(tenant);
    expect(failures).toBeGreaterThan(2);
    const { folder } = await service.services.packing.store.find({ customerId: 'acme', exportId: id });
    expect(present(folder).startsWith(exportFolder({ customerId: 'acme', exportId: id }))).toBe(true);
    const runs = linesIn(await unpack(await download(service, tenant, id)), 'rows/runs');
    expect(runs).toHaveLength(1);
    await expect(files.get(left)).rejects.toThrow('no file');
  } finally {
    files.put = put;
  }
});
