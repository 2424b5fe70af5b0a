/** Makes what takes everything of a workspace out. */
import { standingIn } from '../platform/core/rights.ts';
import type { Workspace } from '../resources/exports/archive/manifest.ts';
import { createArchiveSource } from '../resources/exports/archive/source.ts';
import { createExportService } from '../resources/exports/service.ts';
import { createExportStore } from '../resources/exports/store/index.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Manifests } from './manifests.ts';
import type { Platform } from './platform.ts';

export function composeExports(
  { config, db, log, temporal }: Runtime,
  { files }: Platform,
  { otp }: Access,
  { manifests }: Manifests,
) {
  const store = createExportStore(db);
  return {
    exports: createExportService({ temporal, store, files, otp, settings: config, log }),
    /** Activities use these. */
    packing: {
      store,
      source: createArchiveSource(db, { isOnlyConnection: config.DATABASE_POOL_SIZE === 1 }),
      ttlMs: config.EXPORT_TTL,
      /** An owner asked for the archive, who may read all of it. */
      async manifests({ identity_workspace_id: workspaceId, customer_id: customerId }: Workspace) {
        const standing = standingIn(workspaceId, 'owner', { isStamped: true });
        const { data } = await manifests.export({ workspaceId, customerId, actor: 'system', standing });
        return data;
      },
    },
  };
}
