import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { createIntegrationStore, tokenOwner } from '../../../src/resources/integrations/store.ts';
import { startProviderServer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { eventually, startTestService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let provider: ProviderServer;

beforeAll(async () => {
  provider = await startProviderServer();
  service = await startTestService({
    env: { INTEGRATION_BASE_URLS: `notion=${provider.url}`, INTEGRATION_HEALTH_INTERVAL: '1s' },
  });
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

// Guards: a check whose start was lost is made up for, and a credential that stops working is noticed without anybody
// asking.
test('the schedule checks what nobody asked about', async () => {
  const tenant = await service.tenant('acc_acme');
  const key = { customerId: tenant.caller.customerId, slug: 'notion', kind: 'token', scope: 'shared' };
  const sealed = service.services.secretBox.seal('ntn', tokenOwner(key));
  await createIntegrationStore(service.runtime.db).putToken({ ...key, tokenId: newUuid(), sealed });
  const untilHealth = (status: string) =>
    eventually(async () => {
      expect((await tenant.cp('GET', '/v1/integrations/notion')).body.status).toBe(status);
    });
  await untilHealth('ok');
  provider.answer(() => ({ status: 401 }));
  await untilHealth('invalid');
});
