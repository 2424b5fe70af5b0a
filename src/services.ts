/** Wires stores and services to a runtime; API and worker share it. */
import { createSecretBox } from './platform/core/crypto.ts';
import { createEgress } from './platform/egress/egress.ts';
import { createFileStore } from './platform/files/files.ts';
import { createModels } from './platform/models/models.ts';
import type { ModelCredentials } from './platform/models/types.ts';
import { createAgentService } from './resources/agents/service.ts';
import { createAgentStore } from './resources/agents/store.ts';
import { createApiKeyService } from './resources/api-keys/service.ts';
import { createApiKeyStore } from './resources/api-keys/store.ts';
import { createAttachmentService } from './resources/attachments/service.ts';
import { createAttachmentStore } from './resources/attachments/store.ts';
import { createEventService } from './resources/events/service.ts';
import { createEventStore } from './resources/events/store.ts';
import { ACTIONS } from './resources/projects/builtin/index.ts';
import { createProjectCommands } from './resources/projects/commands/service.ts';
import { createProjectService } from './resources/projects/service.ts';
import { createProjectStarter } from './resources/projects/start.ts';
import { createProjectEngine } from './resources/projects/store/engine/index.ts';
import { createProjectStore } from './resources/projects/store/index.ts';
import { createProjectReader } from './resources/projects/store/for-tools.ts';
import { createRunService } from './resources/runs/service.ts';
import { createRunStore } from './resources/runs/store/index.ts';
import { createTemplateService } from './resources/templates/service.ts';
import { createTemplateStore } from './resources/templates/store.ts';
import { createBuiltinTools } from './resources/tools/builtin/index.ts';
import { createReadArtifact } from './resources/tools/builtin/read-artifact.ts';
import { createReadAttachment } from './resources/tools/builtin/read-attachment.ts';
import { createResolveWebhookGate } from './resources/tools/builtin/resolve-webhook-gate.ts';
import { createToolRegistry } from './resources/tools/registry.ts';
import { createWebhookGateService } from './resources/webhook-gates/service.ts';
import { createWebhookGateStore } from './resources/webhook-gates/store.ts';
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

  const workspaceStore = createWorkspaceStore(db);
  const agentStore = createAgentStore(db);
  const runStore = createRunStore(db);
  const webhookStore = createWebhookStore(db);
  const projectStore = createProjectStore(db);
  const eventStore = createEventStore(db);
  const attachmentStore = createAttachmentStore(db);

  const starter = createProjectStarter({ temporal, store: projectStore, config });
  const projectCommands = createProjectCommands({ temporal, store: projectStore, starter });
  const projectReader = createProjectReader(db);
  const tools = createToolRegistry([
    createBuiltinTools([
      createReadArtifact(projectReader),
      createReadAttachment({ ...projectReader, ...attachmentStore }),
      createResolveWebhookGate({ ...projectReader, ...projectCommands }),
    ]),
  ]);

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
  const templates = createTemplateService({
    store: createTemplateStore(db),
    agentExists: agentStore.isAgent,
    tools,
    skillExists: async () => new Set(),
    actionNames: ACTIONS.map(({ name }) => name),
  });

  return {
    egress,
    files,
    models,
    secretBox,
    tools,
    stores: {
      agents: agentStore,
      projects: projectStore,
      runs: runStore,
      webhooks: webhookStore,
      workspaces: workspaceStore,
    },
    modelCredentials: async (_customerId: string): Promise<ModelCredentials> => ({}),
    integrationCredential: async (_customerId: string, _integration: string): Promise<string | undefined> => undefined,
    boot: async (_start: unknown) => ({ skills: '', memory: '', loaded: { skills: [], memories: [] } }),
    engine: createProjectEngine(db),
    runs,
    templates,
    attachments: createAttachmentService({ store: attachmentStore, files }),
    projects: createProjectService({ temporal, store: projectStore, events: eventStore, starter, templates, log }),
    projectCommands,
    events: createEventService({ store: eventStore }),
    webhookGates: createWebhookGateService({ store: createWebhookGateStore(db) }),
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
