/** Wires stores and services to a runtime; API and worker share it. */
import { createSecretBox } from './platform/core/crypto.ts';
import { createEgress } from './platform/egress/egress.ts';
import { createFileStore } from './platform/files/files.ts';
import { createModels } from './platform/models/models.ts';
import { createAgentService } from './resources/agents/service.ts';
import { createAgentStore } from './resources/agents/store.ts';
import { createApiKeyService } from './resources/api-keys/service.ts';
import { createApiKeyStore } from './resources/api-keys/store.ts';
import { createRunService } from './resources/runs/service.ts';
import { createRunStore } from './resources/runs/store/index.ts';
import { createBuiltinTools } from './resources/tools/builtin/index.ts';
import { createToolRegistry } from './resources/tools/registry.ts';
import { createWebhookService } from './resources/webhook-subscriptions/service.ts';
import { createWebhookStore } from './resources/webhook-subscriptions/store.ts';
import { createWorkspaceStore } from './resources/workspaces/store.ts';
import type { Runtime } from './runtime.ts';

export type Services = ReturnType<typeof createServices>;

export function createServices({ config, log, db, temporal }: Runtime) {
  // Plain http is for tools; a webhook address must be https, which its registration sees to.
  const egress = createEgress({ allowlist: config.EGRESS_ALLOWLIST, allowHttp: true });
  const files = createFileStore(config);
  const models = createModels(config, { log, guardedFetch: egress.fetch });
  const secretBox = createSecretBox(config.SECRETS_KEY);
  const tools = createToolRegistry([createBuiltinTools()]);

  const workspaceStore = createWorkspaceStore(db);
  const agentStore = createAgentStore(db);
  const runStore = createRunStore(db);
  const webhookStore = createWebhookStore(db);

  const runs = createRunService({
    temporal,
    store: runStore,
    config,
    log,
    models,
    agentExists: agentStore.isAgent,
    async toolDeclarations(customerId, slug) {
      const agent = await agentStore.loadAgent(customerId, slug);
      const offered = await tools.find(customerId, agent?.allowedTools ?? []);
      return offered.map(({ slug, description, parameters }) => JSON.stringify({ slug, description, parameters }));
    },
  });
  const webhooks = createWebhookService({ store: webhookStore, temporal, secretBox, egress, settings: config, log });

  return {
    egress,
    files,
    models,
    secretBox,
    tools,
    stores: { agents: agentStore, runs: runStore, webhooks: webhookStore, workspaces: workspaceStore },
    runs,
    webhooks,
    apiKeys: createApiKeyService({ store: createApiKeyStore(db), workspaces: workspaceStore }),
    agents: createAgentService({
      store: agentStore,
      workspaces: workspaceStore,
      files,
      publicVisibility: config.PUBLIC_VISIBILITY,
      recentRuns: runs.summarizeAgent,
    }),
  };
}
