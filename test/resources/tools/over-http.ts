/** The tools of a workspace over HTTP, for the tests of this folder. */
import { afterAll, beforeAll } from '@jest/globals';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

export let service: TestService;

export let tenant: Tenant;

/** Before the tests of a file: a service, and a tenant without tools of its own. */
export function useTools(): void {
  beforeAll(async () => {
    service = await startTestService();
    tenant = await service.tenant('acc_acme');
  });

  afterAll(() => service?.close());
}

export const stub = (slug: string, more: object = {}) => ({
  slug,
  description: 'Says yes.',
  kind: 'stub',
  schema: { type: 'object', properties: { text: { type: 'string' }, loud: { type: 'boolean' } } },
  body: { result: { says: 'yes' } },
  ...more,
});

export const create = (tool: unknown, by = tenant) => by.cp('POST', '/v1/tools', tool);

export const show = async (slug: string, by = tenant) => (await by.cp('GET', `/v1/tools/${slug}`)).body;

export const list = async (by = tenant) => (await by.cp('GET', '/v1/tools')).body;
