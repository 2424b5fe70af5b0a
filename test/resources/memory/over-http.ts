/** Entries of the memory over HTTP, in two workspaces, for the tests of this folder. */
import { afterAll, beforeAll, expect } from '@jest/globals';
import { confirmed } from '../../support/service/otp.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

export const ENTRIES = '/v1/memory/entries';

export const UNKNOWN = 999_999_999_999_999;

export let service: TestService;

export let tenant: Tenant;

export let other: Tenant;

/** Before the tests of a file: a service without a worker, and two tenants with an empty memory. */
export function useMemory(): void {
  beforeAll(async () => {
    service = await startTestService({ worker: false });
    tenant = await service.tenant('acc_memory');
    other = await service.tenant('acc_memory_other');
  });

  afterAll(() => service?.close());
}

export const create = (body: object, by = tenant) =>
  by.cp('POST', ENTRIES, { type: 'note', content: 'The bakery opens at six.', ...body });

export async function created(body: object = {}, by = tenant) {
  const answer = await create(body, by);
  expect(answer.status).toBe(201);
  return answer.body;
}

export const read = async (id: number, by = tenant) => (await by.cp('GET', `${ENTRIES}/${id}`)).body;

export const patch = (id: number, body?: object, by = tenant) => confirmed(by, 'PATCH', `${ENTRIES}/${id}`, body);

export const refused = (detail: unknown, status = 400) => ({ status, body: { detail } });
