/**
 * Entry point of the migration job: it brings `DATABASE_URL` to the current schema, seeds the first workspace, and
 * prepares Temporal.
 */
import { readSettings } from './checked-settings.ts';
import { loadEnvFile } from './platform/core/config.ts';
import { createLog } from './platform/core/log.ts';
import { migrate } from './platform/db/migrate.ts';
import { requireDatabase } from './platform/db/startable.ts';
import { registerSearchAttributes } from './platform/temporal/search-attributes.ts';
import { createMemberStore } from './resources/members/store/index.ts';
import { createSignInStore } from './resources/sign-in/store.ts';
import { createWorkspaceStore } from './resources/workspaces/store/index.ts';
import { TENANT_DATA } from './resources/tenant-data.ts';
import { openRuntime, type Runtime } from './runtime.ts';

/** It is safe to repeat, and from several processes at once. */
export async function prepare({ config, db, temporal }: Pick<Runtime, 'config' | 'db' | 'temporal'>): Promise<void> {
  await Promise.all([
    registerSearchAttributes(temporal),
    createWorkspaceStore(db, TENANT_DATA).seedInternal(config.BASE_URL ?? `http://localhost:${config.PORT}`),
  ]);
  // Whoever operates the deployment signs in first; everybody else is added as a member.
  const members = createMemberStore(db, createSignInStore(db), []);
  if (config.ADMIN_EMAIL) await members.seedOwner('internal', config.ADMIN_EMAIL.toLowerCase());
}

if (import.meta.main) {
  loadEnvFile();
  try {
    const config = readSettings(process.env);
    await requireDatabase(config, { log: createLog({ level: config.LOG_LEVEL }), willMigrate: true });
    await migrate(config.DATABASE_URL);
    const runtime = await openRuntime(process.env);
    await prepare(runtime);
    await runtime.close();
    runtime.log.info('migrated');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
