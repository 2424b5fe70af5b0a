/** Wires stores and services to a runtime; API and worker share it. */
import { createSecretBox } from './platform/core/crypto.ts';
import { createEgress } from './platform/egress/egress.ts';
import { createFileStore } from './platform/files/files.ts';
import { createMailer } from './platform/mail/mailer.ts';
import { createMcpPool } from './platform/mcp/pool.ts';
import { readMcpServers } from './platform/mcp/servers.ts';
import { createModels } from './platform/models/models.ts';
import { createTriggers, followingRows } from './platform/temporal/triggers.ts';
import { createSandboxes } from './platform/sandbox/sandboxes.ts';
import { createAgentService } from './resources/agents/service.ts';
import { createAgentStore } from './resources/agents/store.ts';
import { createApiKeyService } from './resources/api-keys/service.ts';
import { createApiKeyStore } from './resources/api-keys/store.ts';
import { createAttachmentService } from './resources/attachments/service.ts';
import { createAttachmentStore } from './resources/attachments/store.ts';
import { createEventService } from './resources/events/service.ts';
import { createEventStore } from './resources/events/store.ts';
import { createBaseAddresses } from './resources/integrations/addresses.ts';
import { integrations } from './resources/integrations/catalogue.ts';
import { createCredentials } from './resources/integrations/credentials.ts';
import { createHealthChecks } from './resources/integrations/health.ts';
import { createIntegrationService } from './resources/integrations/service.ts';
import { createIntegrationStore } from './resources/integrations/store.ts';
import { createBoot } from './resources/memory/boot.ts';
import { createAgentMemory } from './resources/memory/for-agents.ts';
import { createMemoryService } from './resources/memory/service.ts';
import { createMemoryStore } from './resources/memory/store/index.ts';
import { createMiniappService } from './resources/miniapps/service.ts';
import { createMiniappStore } from './resources/miniapps/store.ts';
import { createOtpService } from './resources/otp/service.ts';
import { createOtpStore } from './resources/otp/store.ts';
import { ACTIONS } from './resources/projects/builtin/index.ts';
import { createHeartbeatService, heartbeatPrefix, triggersOfHeartbeats } from './resources/heartbeats/service.ts';
import { createHeartbeatStore } from './resources/heartbeats/store.ts';
import { createProjectCommands } from './resources/projects/commands/service.ts';
import { createProjectService } from './resources/projects/service.ts';
import { createProjectStarter } from './resources/projects/start.ts';
import { createProjectEngine } from './resources/projects/store/engine/index.ts';
import { createProjectStore } from './resources/projects/store/index.ts';
import { createProjectReader } from './resources/projects/store/for-tools.ts';
import { toolsOf } from './resources/runs/context.ts';
import { createRunService } from './resources/runs/service.ts';
import { createRunStore } from './resources/runs/store/index.ts';
import { createJobService } from './resources/scheduled-jobs/service.ts';
import { createJobStore } from './resources/scheduled-jobs/store.ts';
import { jobPrefix, triggersOfJobs } from './resources/scheduled-jobs/triggers.ts';
import { createSkillSection } from './resources/skills/boot.ts';
import { builtinReferences, builtinSkills } from './resources/skills/builtin/index.ts';
import { createSkillService } from './resources/skills/service.ts';
import { createSkillStore } from './resources/skills/store.ts';
import { withSkillLinks } from './resources/skills/tool-links.ts';
import { createTemplateService } from './resources/templates/service.ts';
import { createTemplateStore } from './resources/templates/store.ts';
import { createAskHuman } from './resources/tools/builtin/ask-human.ts';
import { awaitSubmission } from './resources/tools/builtin/await-submission.ts';
import { createBuiltinTools } from './resources/tools/builtin/index.ts';
import { createLoadSkill } from './resources/tools/builtin/load-skill.ts';
import { createMemorySearch } from './resources/tools/builtin/memory-search.ts';
import { createMemoryWrite } from './resources/tools/builtin/memory-write.ts';
import { createReadArtifact } from './resources/tools/builtin/read-artifact.ts';
import { createReadAttachment } from './resources/tools/builtin/read-attachment.ts';
import { createResolveWebhookGate } from './resources/tools/builtin/resolve-webhook-gate.ts';
import { createCustomTools } from './resources/tools/custom/index.ts';
import { createCommand } from './resources/tools/custom/command.ts';
import { createContainer } from './resources/tools/custom/container.ts';
import { createScript } from './resources/tools/custom/script.ts';
import type { CustomKinds } from './resources/tools/custom/kind.ts';
import { createMiniapp } from './resources/tools/custom/miniapp.ts';
import { stub } from './resources/tools/custom/stub.ts';
import { webhook } from './resources/tools/custom/webhook.ts';
import { createMcpTools } from './resources/tools/mcp.ts';
import { createToolRegistry } from './resources/tools/registry.ts';
import { createToolService } from './resources/tools/service.ts';
import { createToolStore } from './resources/tools/store.ts';
import { createWebhookGateService } from './resources/webhook-gates/service.ts';
import { createWebhookGateStore } from './resources/webhook-gates/store.ts';
import { createWebhookService } from './resources/webhook-subscriptions/service.ts';
import { createWebhookStore } from './resources/webhook-subscriptions/store.ts';
import { createWorkspaceStore } from './resources/workspaces/store.ts';
import type { Runtime } from './runtime.ts';

export type Services = ReturnType<typeof createServices>;

/**
 * For a process that is one part: makes its services, and closes what they hold open after the part itself.
 * @param start starts the part on them
 */
export const withServices =
  (start: (runtime: Runtime, services: Services) => Promise<{ close(): Promise<void> }>) =>
  async (runtime: Runtime): Promise<{ close(): Promise<void> }> => {
    const services = createServices(runtime);
    const part = await start(runtime, services);
    return {
      async close() {
        await part.close();
        await services.close();
      },
    };
  };

export function createServices({ config, log, db, temporal }: Runtime) {
  // Plain http is for tools; a webhook address must be https, which its registration sees to.
  const egress = createEgress({ allowlist: config.EGRESS_ALLOWLIST, allowHttp: true });
  const files = createFileStore(config);
  const models = createModels(config, { log, guardedFetch: egress.fetch });
  const secretBox = createSecretBox(config.SECRETS_KEY);
  const mcp = createMcpPool({ servers: readMcpServers(config.MCP_SERVERS), guardedFetch: egress.fetch, log });

  const otpStore = createOtpStore(db);
  const otp = createOtpService({
    store: otpStore,
    mailer: createMailer(config, log),
    secret: config.SESSION_SECRET,
    inbox: config.ADMIN_EMAIL,
  });

  const addresses = createBaseAddresses(config);
  const integrationStore = createIntegrationStore(db);
  const credentials = createCredentials({ store: integrationStore, secretBox, addresses });

  const workspaceStore = createWorkspaceStore(db);
  const memoryStore = createMemoryStore(db);
  const skillStore = createSkillStore(db);
  const agentStore = createAgentStore(db);
  const runStore = createRunStore(db);
  const webhookStore = createWebhookStore(db);
  const projectStore = createProjectStore(db);
  const eventStore = createEventStore(db);
  const attachmentStore = createAttachmentStore(db);

  const memory = createMemoryService({
    store: memoryStore,
    workspaces: workspaceStore,
    otp,
    models,
    isBuiltinSkill: (slug) => builtinSkills.has(slug),
    publicVisibility: config.PUBLIC_VISIBILITY,
  });

  const agentMemory = createAgentMemory({
    ...{ store: memoryStore, workspaces: workspaceStore, models },
    isBuiltinSkill: (slug) => builtinSkills.has(slug),
  });

  const skillSection = createSkillSection(skillStore);

  const miniappStore = createMiniappStore(db);
  const miniapps = createMiniappService({
    ...{ store: miniappStore, temporal, log, secret: config.SESSION_SECRET },
    baseUrl: (config.BASE_URL ?? `http://localhost:${config.PORT}`).replace(/\/$/, ''),
  });

  const starter = createProjectStarter({ temporal, store: projectStore, config });
  const projectCommands = createProjectCommands({ temporal, store: projectStore, starter });
  const projectReader = createProjectReader(db);
  /** Tools that no workspace made: none of its own gets one of their slugs. */
  const shippedTools = createToolRegistry([
    createBuiltinTools([
      createReadArtifact(projectReader),
      createReadAttachment(attachmentStore),
      createLoadSkill(skillStore),
      createMemorySearch(agentMemory),
      createMemoryWrite(agentMemory),
      createAskHuman(miniapps),
      awaitSubmission,
      createResolveWebhookGate({ ...projectReader, ...projectCommands }),
    ]),
    createMcpTools({ pool: mcp, serversOf: credentials.mcpServersOf, timeoutMs: config.MCP_TIMEOUT }),
  ]);
  const sandboxes = createSandboxes(config);
  const toolStore = withSkillLinks(db, createToolStore(db, secretBox));
  const toolKinds: CustomKinds = {
    stub,
    webhook,
    script: createScript(sandboxes.script),
    command: createCommand(sandboxes.command),
    container: createContainer(sandboxes.container),
    miniapp: createMiniapp(miniapps),
  };
  const tools = createToolRegistry([shippedTools, createCustomTools(toolStore, toolKinds)]);

  const runs = createRunService({
    temporal,
    store: runStore,
    config,
    log,
    models,
    agentExists: agentStore.isAgent,
    async toolDeclarations(run, slug) {
      const agent = await agentStore.loadAgent(run.customerId, slug);
      const offered = await tools.find(run.customerId, toolsOf(run, agent));
      return offered
        .filter(({ unavailable }) => unavailable === undefined)
        .map(({ slug, description, parameters }) => JSON.stringify({ slug, description, parameters }));
    },
  });
  const webhooks = createWebhookService({ store: webhookStore, temporal, secretBox, egress, settings: config, log });
  const templates = createTemplateService({
    store: createTemplateStore(db),
    agentExists: agentStore.isAgent,
    tools,
    skillExists: skillStore.existing,
    actionNames: ACTIONS.map(({ name }) => name),
  });

  const attachments = createAttachmentService({ store: attachmentStore, files });
  const triggers = createTriggers(temporal);
  const follow = followingRows({ temporal, triggers, log });
  const jobStore = createJobStore(db);
  const heartbeatStore = createHeartbeatStore(db);
  const triggerOfJob = triggersOfJobs(config);
  const triggerOfHeartbeat = triggersOfHeartbeats(config);

  return {
    jobs: createJobService({
      attachments,
      workspaces: workspaceStore,
      store: jobStore,
      triggerOf: triggerOfJob,
      follow,
      heartbeatCounts: heartbeatStore.counts,
    }),
    heartbeats: createHeartbeatService({
      store: heartbeatStore,
      workspaces: workspaceStore,
      triggerOf: triggerOfHeartbeat,
      follow,
    }),
    /** For housekeeping: what Temporal's schedules are held against. */
    followedRows: [
      {
        prefix: jobPrefix(config),
        wanted: async () => (await jobStore.listAll()).map(({ row, workspaceId }) => triggerOfJob(row, workspaceId)),
      },
      {
        prefix: heartbeatPrefix(config),
        wanted: async () =>
          (await heartbeatStore.listAll()).map(({ row, workspaceId }) => triggerOfHeartbeat(row, workspaceId)),
      },
    ].map((rows) => ({ ...rows, triggers })),
    egress,
    files,
    models,
    secretBox,
    sandboxes,
    tools,
    customTools: createToolService({
      store: toolStore,
      workspaces: workspaceStore,
      shipped: shippedTools,
      kinds: toolKinds,
      isIntegration: (slug) => integrations.has(slug),
      builtinUses: builtinReferences,
      publicVisibility: config.PUBLIC_VISIBILITY,
    }),
    otp,
    miniapps,
    mcp,
    memory,
    skills: createSkillService({
      store: skillStore,
      workspaces: workspaceStore,
      models,
      async toolsAmong(customerId, slugs) {
        const known = [...(await shippedTools.find(customerId, slugs)), ...(await toolStore.list(customerId))];
        return new Set(known.map(({ slug }) => slug));
      },
      publicVisibility: config.PUBLIC_VISIBILITY,
    }),
    stores: {
      agents: agentStore,
      heartbeats: heartbeatStore,
      jobs: jobStore,
      memory: memoryStore,
      miniapps: miniappStore,
      otp: otpStore,
      projects: projectStore,
      runs: runStore,
      webhooks: webhookStore,
      workspaces: workspaceStore,
    },
    integrations: createIntegrationService({
      ...{ store: integrationStore, otp, secretBox, addresses, egress, temporal, settings: config, log },
    }),
    ...credentials,
    ...createHealthChecks({ store: integrationStore, secretBox, addresses, egress, settings: config, log }),
    boot: createBoot({ store: memoryStore, models, skillSection, settings: config, log }),
    engine: createProjectEngine(db),
    runs,
    templates,
    attachments,
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
    async close() {
      await mcp.close();
      await egress.close();
    },
  };
}
