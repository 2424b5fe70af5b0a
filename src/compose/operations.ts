/** Makes what operators see and set: the state of the deployment, flags, customers, and how long things are kept. */
import { createCrmService } from '../resources/crm-admin/service.ts';
import { createCrmStore } from '../resources/crm-admin/store.ts';
import { createCustomerService } from '../resources/customers/service.ts';
import { createCustomerStore } from '../resources/customers/store.ts';
import { createFlagService } from '../resources/feature-flags/service.ts';
import { createFlagStore } from '../resources/feature-flags/store.ts';
import { createRetention } from '../resources/retention/service.ts';
import { createRetentionStore } from '../resources/retention/store.ts';
import { createSystemService } from '../resources/system/service.ts';
import { createSystemStore } from '../resources/system/store.ts';
import { foldAllTallies } from '../resources/tallies/store.ts';
import type { Runtime } from '../runtime.ts';
import type { Platform } from './platform.ts';

export function composeOperations({ config, log, db, temporal }: Runtime, { files, disk, models, mcp }: Platform) {
  return {
    flags: createFlagService({ store: createFlagStore(db) }),
    customers: createCustomerService({ store: createCustomerStore(db) }),
    crm: createCrmService({ store: createCrmStore(db) }),
    system: createSystemService({
      store: createSystemStore(db, { lostAfterMs: config.LOST_WORK_INTERVAL }),
      temporal,
      files,
      disk,
      models,
      mcp,
      config,
      log,
    }),
    retention: createRetention({ store: createRetentionStore(db), settings: config, log }),
    foldTallies: (signal: AbortSignal) => foldAllTallies(db, signal),
  };
}
