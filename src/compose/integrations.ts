/** Makes what handles credentials of third parties, which a workspace or the operator gave. */
import { routerCredential } from '../resources/billing/model-router/credential.ts';
import { createRouterKeyStore } from '../resources/billing/model-router/store.ts';
import { createBaseAddresses } from '../resources/integrations/addresses.ts';
import { createCredentials } from '../resources/integrations/credentials.ts';
import { createHealthChecks } from '../resources/integrations/health.ts';
import { createIntegrationService } from '../resources/integrations/service.ts';
import { createIntegrationStore } from '../resources/integrations/store.ts';
import { createSessionService } from '../resources/session/service.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Platform } from './platform.ts';

export type Integrations = ReturnType<typeof composeIntegrations>;

export function composeIntegrations(
  { config, log, db, temporal }: Runtime,
  { secretBox, egress }: Platform,
  { otp }: Pick<Access, 'otp'>,
) {
  const addresses = createBaseAddresses(config);
  const store = createIntegrationStore(db);
  const routerKeys = createRouterKeyStore(db);
  const credentials = createCredentials({
    store,
    secretBox,
    addresses,
    managedRouter: routerCredential({ routerKeys, secretBox, url: config.MODEL_ROUTER_URL }),
  });
  return {
    session: createSessionService({ config, temporal, modelCredentials: credentials.modelCredentials }),
    routerKeys,
    integrations: createIntegrationService({
      store,
      otp,
      secretBox,
      addresses,
      egress,
      temporal,
      settings: config,
      log,
    }),
    ...credentials,
    ...createHealthChecks({ store, secretBox, addresses, egress, settings: config, log }),
  };
}
