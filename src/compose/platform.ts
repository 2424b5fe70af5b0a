/** Makes what every domain is built on: guarded fetch, files, models, sandboxes, and what a process shows of itself. */
import { createSecretBox } from '../platform/core/crypto.ts';
import { createPageKeys } from '../platform/core/page-keys.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { answerLimits } from '../platform/egress/limits.ts';
import { createDisk } from '../platform/files/disk.ts';
import { createFileStore } from '../platform/files/files.ts';
import { createMailer } from '../platform/mail/mailer.ts';
import { createMcpPool } from '../platform/mcp/pool.ts';
import { readMcpServers } from '../platform/mcp/servers.ts';
import { createModels } from '../platform/models/models.ts';
import { modelLabels, meteredModels } from '../platform/models/metered.ts';
import { createMeters } from '../platform/observability/meters.ts';
import { watchStalls } from '../platform/observability/stalls.ts';
import { createSandboxes } from '../platform/sandbox/sandboxes.ts';
import { createTriggers, followingRows } from '../platform/temporal/triggers.ts';
import { closeThreads } from '../platform/threads/threads.ts';
import { createDiscardSweep } from '../resources/discarded-files/service.ts';
import { createDiscardedFileStore } from '../resources/discarded-files/store.ts';
import type { Runtime } from '../runtime.ts';

export type Platform = ReturnType<typeof composePlatform>;

export function composePlatform({ config, db, log, temporal }: Runtime) {
  // Plain http is for tools; the address of a webhook must be https, which its registration sees to.
  const egress = createEgress({
    allowlist: config.EGRESS_ALLOWLIST,
    allowHttp: true,
    limits: answerLimits(config),
  });
  const meters = createMeters();
  const stalls = watchStalls({ meters, log });
  const unmetered = createModels(config, { log, guardedFetch: egress.fetch });
  const modelLabel = modelLabels(config.OPENAI_COMPATIBLE_MODEL, unmetered);
  const models = meteredModels(unmetered, meters, modelLabel);
  const mcp = createMcpPool({
    servers: readMcpServers(config.MCP_SERVERS),
    guardedFetch: egress.fetch,
    settings: config,
    log,
  });
  const triggers = createTriggers(temporal);
  const discarded = createDiscardedFileStore(db);
  const files = createFileStore(config, (key) =>
    discarded.add(key).catch((err: unknown) => log.warn({ err, key }, 'a file that nothing refers to stays stored')),
  );
  return {
    /** People and their browsers reach the service at this address. */
    baseUrl: config.BASE_URL ?? `http://localhost:${config.PORT}`,
    egress,
    files,
    sweepDiscarded: createDiscardSweep({ store: discarded, files }),
    disk: createDisk(config.DATA_DIR, !config.FILES_S3_BUCKET),
    mailer: createMailer(config, log),
    mcp,
    meters,
    modelLabel,
    models,
    sandboxes: createSandboxes(config),
    pageKeys: createPageKeys(config.SESSION_SECRET),
    secretBox: createSecretBox(config.SECRETS_KEY),
    stalls,
    triggers,
    follow: followingRows({ temporal, triggers, log }),
    async close() {
      await mcp.close();
      await models.close();
      await closeThreads();
      await egress.close();
      stalls.stop();
    },
  };
}
