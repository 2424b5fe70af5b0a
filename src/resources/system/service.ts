/** Answers what can be asked of the deployment itself, and reads anew what can be read without a restart. */
import { createRequire } from 'node:module';
import { messageOf } from '../../platform/core/causes.ts';
import type { Config } from '../../platform/core/config.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { McpPool } from '../../platform/mcp/pool.ts';
import { readMcpServers } from '../../platform/mcp/servers.ts';
import { configuredProviders, deploymentCredentials, describeModel } from '../../platform/models/catalogue.ts';
import type { Models } from '../../platform/models/types.ts';
import type { Disk } from '../../platform/files/disk.ts';
import type { FileStore } from '../../platform/files/files.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { areQueuesSplit, queueName, QUEUES } from '../../platform/temporal/task-queues.ts';
import { MAX_FILES, MAX_UPLOAD_BYTES } from '../attachments/model.ts';
import { CAPPED_RESOURCES, capOf, tierOf } from '../workspaces/model.ts';
import { createHealth } from './health.ts';
import type { LOG_LEVELS } from './model.ts';
import { createProbes } from './probes.ts';
import type { SystemStore } from './store.ts';

export type SystemService = ReturnType<typeof createSystemService>;

interface SystemDependencies {
  store: SystemStore;
  temporal: Temporal;
  files: FileStore;
  disk: Disk;
  models: Pick<Models, 'embedding' | 'reload' | 'price' | 'catalogue' | 'providersOut'>;
  mcp: Pick<McpPool, 'operators' | 'replaceOperators'>;
  config: Config;
  log: Log;
}

type Reloaded = 'model_prices' | 'model_catalogue' | 'mcp_servers' | 'log_level';

const JSON_BODY_BYTES = 1024 * 1024;
/** The alert of the same says so too (`deploy/observability/alerts.yml`). */
const LATE_S = 120;
const SOME_USAGE = { inputTokens: 1_000, outputTokens: 1_000 };
const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

export function createSystemService({ store, temporal, files, disk, models, mcp, config, log }: SystemDependencies) {
  const startedAt = new Date();
  const { model, dimensions, languages, scripts } = models.embedding;
  const credentials = deploymentCredentials(config);
  const providers = configuredProviders(credentials);
  const ofOwnServer = credentials['openai-compatible']?.model;
  const queues = (areQueuesSplit(config) ? QUEUES : (['orchestration'] as const)).map((queue) =>
    queueName(config, queue),
  );

  return {
    health: createHealth(
      createProbes({ store, temporal, files, disk, config, providers, providersOut: models.providersOut }),
      log,
    ),

    /** Metrics show this: what is not done yet, over all workspaces. */
    backlog: store.backlog,
    choresBehind: store.choresBehind,

    /** @throws Problem not_found where the caller's workspace has no row */
    async info(caller: Caller) {
      const { plan, inForce } = await store.planOf(caller.customerId);
      const caps = CAPPED_RESOURCES.map((resource) => [resource, capOf(inForce, resource)]);
      const available = availableModels();
      const named = (await store.modelsNamed(caller.customerId))
        .map((id) => describeModel(id, credentials, models.catalogue()))
        .filter(({ id, provider }) => providers.includes(provider) && !available.some(({ model }) => model === id))
        .map(({ id, provider }) => ({ model: id, provider }));
      return {
        version,
        node: process.versions.node,
        surfaces: config.SURFACES,
        billing_mode: config.BILLING_MODE,
        models: {
          providers,
          available: available.map(({ model }) => model),
          unpriced: [...available, ...named].filter(isUnpriced).map(({ model }) => model),
        },
        embedding: { model, dimensions, languages, scripts },
        plan: {
          plan,
          in_force: inForce,
          tier: tierOf(inForce),
          caps: Object.fromEntries(caps) as Record<(typeof CAPPED_RESOURCES)[number], number | null>,
        },
        limits: {
          json_body_bytes: JSON_BODY_BYTES,
          upload_files: MAX_FILES,
          upload_bytes: MAX_UPLOAD_BYTES,
          run_turns: config.RUN_MAX_TURNS,
          run_tokens: config.RUN_MAX_TOKENS,
          run_detail_ttl_s: Math.floor(config.RUN_DETAIL_TTL / 1_000),
        },
        ...(can(caller, 'deployment.inspect') && { operations: await operations() }),
      };
    },

    /**
     * Everything is read before anything is used, so that a bad file changes nothing.
     * @throws Problem bad_request that names the file and what is wrong with it
     */
    reload({ log_level: level }: { log_level?: (typeof LOG_LEVELS)[number] | undefined } = {}) {
      const reloaded: Reloaded[] = [];
      try {
        const servers = config.MCP_SERVERS === undefined ? undefined : readMcpServers(config.MCP_SERVERS);
        models.reload();
        if (config.MODEL_PRICES !== undefined) reloaded.push('model_prices');
        if (config.MODEL_CATALOGUE !== undefined) reloaded.push('model_catalogue');
        if (servers) {
          mcp.replaceOperators(servers);
          reloaded.push('mcp_servers');
        }
      } catch (error) {
        throw new Problem('bad_request', messageOf(error));
      }
      if (level) {
        log.level = level;
        reloaded.push('log_level');
      }
      log.info({ reloaded }, 'reloaded');
      return { reloaded, mcp_servers: [...mcp.operators.keys()], log_level: log.level };
    },
  };

  /** Those of the catalogue, the operator's own server and the offline model. */
  function availableModels() {
    const catalogue = models.catalogue();
    return [
      ...providers.flatMap((provider) => catalogue.idsOf(provider).map((model) => ({ model, provider }))),
      ...(ofOwnServer ? [{ model: ofOwnServer, provider: 'openai-compatible' as const }] : []),
      { model: 'offline', provider: 'offline' as const },
    ];
  }

  function isUnpriced(model: Parameters<Models['price']>[0]): boolean {
    return models.price(model, SOME_USAGE, { ofServer: credentials['openai-compatible']?.price }) === null;
  }

  async function operations() {
    const behind = await store.choresBehind();
    return {
      started_at: startedAt,
      temporal_namespace: temporal.namespace,
      temporal_address: temporal.address ?? null,
      task_queues: queues,
      files: config.FILES_S3_BUCKET ? ('s3' as const) : ('local' as const),
      mail: config.SMTP_URL ? ('smtp' as const) : ('log' as const),
      mcp_servers: [...mcp.operators.keys()],
      command_tools: config.TOOLS_COMMAND,
      container_tools: config.TOOLS_CONTAINER,
      log_level: log.level,
      public_visibility: config.PUBLIC_VISIBILITY,
      base_url: config.BASE_URL ?? null,
      extensions: [...config.EXTENSIONS],
      late: behind
        .filter(({ overdueS }) => overdueS > LATE_S)
        .map(({ chore, due, overdueS }) => ({ chore, due, overdue_s: Math.round(overdueS) })),
    };
  }
}
