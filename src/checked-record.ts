/** Looks, before anything is served or worked on, whether the record is one that this process can go on with. */
import { requireKeysInUse } from './keys-in-use.ts';
import { continueEventOrder } from './resources/event-log/store/read.ts';
import { requireVectorsOf } from './resources/memory/re-embed.ts';
import type { Runtime } from './runtime.ts';
import type { Services } from './compose/services.ts';

const checked = new WeakMap<Services, Promise<void>>();

/** API and worker both ask for it; where they are one process, it is done once. @throws ConfigError */
export function checkRecord(runtime: Runtime, services: Services): Promise<void> {
  const known = checked.get(services) ?? check(runtime, services);
  checked.set(services, known);
  return known;
}

async function check({ db, config }: Runtime, { secretBox, models, templates }: Services): Promise<void> {
  await requireKeysInUse(db, secretBox, config.SECRETS_KEY_LOST);
  await requireVectorsOf(db, models.embedding);
  await continueEventOrder(db);
  await templates.seed();
}
