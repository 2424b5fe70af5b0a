/** Skills over HTTP, in two workspaces, for the tests of this folder. */
import { afterAll, beforeAll, expect } from '@jest/globals';
import { startTestService, type Answer, type Tenant, type TestService } from '../../support/service/service.ts';

export let service: TestService;

export let acme: Tenant;

export let other: Tenant;

/** Before the tests of a file: a service without a worker, and two tenants. */
export function useSkills(): void {
  beforeAll(async () => {
    service = await startTestService({ worker: false });
    acme = await service.tenant('acc_acme');
    other = await service.tenant('acc_other');
  });

  afterAll(() => service?.close());
}

export const post = (body: unknown, tenant = acme): Promise<Answer> => tenant.cp('POST', '/v1/skills', body);

const pathOf = (slug: string): string => `/v1/skills/${encodeURIComponent(slug)}`;

export const get = (slug: string, tenant = acme): Promise<Answer> => tenant.cp('GET', pathOf(slug));

export const patch = (slug: string, body?: unknown, tenant = acme): Promise<Answer> =>
  tenant.cp('PATCH', pathOf(slug), body);

export const remove = (slug: string, tenant = acme): Promise<Answer> => tenant.cp('DELETE', pathOf(slug));

export async function made(body: { slug: string } & Record<string, unknown>, tenant = acme) {
  const { status, body: skill } = await post({ name: 'A skill', ...body }, tenant);
  expect([status, skill]).toEqual([201, skill]);
  return skill;
}
