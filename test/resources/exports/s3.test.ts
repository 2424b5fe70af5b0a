/** Archives where files are in S3-compatible storage: stored in parts, downloaded whole and in ranges, and taken away. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { present } from '../../../src/platform/core/present.ts';
import { PART_BYTES } from '../../../src/resources/exports/model.ts';
import { makeExport } from '../../support/fixtures/belongings.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { download, downloadPart } from './download.ts';

let storage: S3Gateway;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  storage = await startS3Gateway('files');
  service = await startTestService({ env: storage.settings });
  tenant = await service.tenant('acc_acme');
  // Bytes that cannot be packed, so that the archive has several parts.
  const { body: thread } = await tenant.cp('POST', '/v1/chat/threads', { agent: 'assistant' });
  const form = new FormData();
  form.append('files', new Blob([new Uint8Array(randomBytes(PART_BYTES + 1_000_000))]), 'noise.bin');
  const { status, body } = await tenant.cp('POST', `/v1/chat/threads/${thread.id}/attachments`, form);
  if (status >= 300) throw new Error(`not attached: ${status} ${JSON.stringify(body)}`);
}, BUILD_MS);
afterAll(async () => {
  await service?.close();
  await storage?.close();
});

// Guards: parts that a store keeps under other names, in another order or for too long; a range that begins in one part and ends in another.
test('an archive is stored, downloaded and taken away', async () => {
  const id = await makeExport(tenant);
  const whole = await download(service, tenant, id);
  expect(whole.length).toBeGreaterThan(PART_BYTES);
  const across = await downloadPart(service, tenant, id, { range: `bytes=${PART_BYTES - 10}-${PART_BYTES + 9}` });
  expect([across.status, across.bytes.equals(whole.subarray(PART_BYTES - 10, PART_BYTES + 10))]).toEqual([206, true]);

  const { folder } = await service.services.packing.store.find({ customerId: 'acme', exportId: id });
  expect((await storage.get(`${present(folder)}/000001`)).status).toBe(200);
  expect((await tenant.cp('DELETE', `/v1/workspaces/acc_acme/exports/${id}`)).body).toMatchObject({
    status: 'removed',
  });
  for (const part of ['000000', '000001']) expect((await storage.get(`${present(folder)}/${part}`)).status).toBe(404);
});
