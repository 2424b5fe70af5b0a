/** Wires stores and services to a runtime; API and worker share it. */
import type { Caller } from './platform/http/endpoint.ts';
import { createSecretBox, secretsIn } from './platform/core/crypto.ts';
import { createEgress } from './platform/egress/egress.ts';
import { answerLimits } from './platform/egress/limits.ts';
import { createDisk } from './platform/files/disk.ts';
import { createFileStore } from './platform/files/files.ts';
import { createMailer } from './platform/mail/mailer.ts';
import { createMcpPool } from './platform/mcp/pool.ts';
import { readMcpServers } from './platform/mcp/servers.ts';
import { createModels } from './platform/models/models.ts';
import { modelLabels, observedModels } from './platform/models/observed.ts';
import { createMeters } from './platform/observability/meters.ts';
import { closeThreads } from './platform/threads/threads.ts';
import { watchStalls } from './platform/observability/stalls.ts';
import { NO_STANDING } from './platform/core/rights.ts';
import { withinDeadline } from './platform/temporal/problems.ts';
import { createTriggers, followingRows } from './platform/temporal/triggers.ts';
import { createSandboxes } from './platform/sandbox/sandboxes.ts';
import { openMetrics, type Part } from './observability.ts';
import { builtinAgents } from './resources/agents/builtin/index.ts';
import { createAgentService } from './resources/agents/service.ts';
import { createAgentStore } from './resources/agents/store.ts';
import { createApiKeyService } from './resources/api-keys/service.ts';
import { createApiKeyStore } from './resources/api-keys/store.ts';
import { createAttachmentService } from './resources/attachments/service.ts';
import { createAttachmentStore } from './resources/attachments/store.ts';
import { createAuditService } from './resources/audit-log/service.ts';
import { createAuditStore } from './resources/audit-log/store.ts';
import { createCostService } from './resources/cost/service.ts';
import { createCostStore } from './resources/cost/store.ts';
import { createCrmService } from './resources/crm-admin/service.ts';
import { createCrmStore } from './resources/crm-admin/store.ts';
import { createCustomerService } from './resources/customers/service.ts';
import { createCustomerStore } from './resources/customers/store.ts';
import { createLease } from './resources/billing/lease.ts';
import { routerCredential } from './resources/billing/model-router/credential.ts';
import { createRouterKeyStore } from './resources/billing/model-router/store.ts';
import { createBillingService } from './resources/billing/service/index.ts';
import { createBillingStore } from './resources/billing/store.ts';
import { createMetering } from './resources/billing/wallet/metering.ts';
import { createWalletStore } from './resources/billing/wallet/store.ts';
import { createChatService } from './resources/chat/service.ts';
import { createChatStore } from './resources/chat/store.ts';
import { createEventService } from './resources/events/service.ts';
import { createEventStore } from './resources/events/store.ts';
import { createFlagService } from './resources/feature-flags/service.ts';
import { createFlagStore } from './resources/feature-flags/store.ts';
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
import { createMemberService } from './resources/members/service.ts';
import { createMemberStore } from './resources/members/store.ts';
import { createMiniappService } from './resources/miniapps/service.ts';
import { createMiniappStore } from './resources/miniapps/store.ts';
import { countedOtp } from './resources/otp/counted.ts';
import { createOtpService } from './resources/otp/service.ts';
import { createOtpStore } from './resources/otp/store.ts';
import { meteredDestinations } from './resources/output-destinations/metered.ts';
import { createRecipientStore } from './resources/output-destinations/recipient-store.ts';
import { createRecipients } from './resources/output-destinations/recipients.ts';
import { createDeliver } from './resources/output-destinations/send/delivering.ts';
import { createOutputSender } from './resources/output-destinations/send/sender.ts';
import { createDestinationService } from './resources/output-destinations/service.ts';
import { createDestinationStore } from './resources/output-destinations/store.ts';
import { ACTIONS } from './resources/projects/builtin/index.ts';
import { createHeartbeatService, heartbeatPrefix, triggersOfHeartbeats } from './resources/heartbeats/service.ts';
import { createHeartbeatStore } from './resources/heartbeats/store.ts';
import { createProjectCommands } from './resources/projects/commands/service.ts';
import { createLostProjects } from './resources/projects/lost.ts';
import { meteredProjects } from './resources/projects/metered.ts';
import { createProjectService } from './resources/projects/service.ts';
import { createProjectStarter } from './resources/projects/start.ts';
import { createProjectEngine } from './resources/projects/store/engine/index.ts';
import { createProjectStore } from './resources/projects/store/index.ts';
import { createProjectReader } from './resources/projects/store/for-tools.ts';
import { createPauseTeller } from './resources/receivers/pauses.ts';
import { createPlaceStore } from './resources/receivers/store.ts';
import { createRunArtifactService } from './resources/run-artifacts/service.ts';
import { createRunArtifactStore } from './resources/run-artifacts/store.ts';
import { toolsOf } from './resources/runs/context.ts';
import { createLostRuns } from './resources/runs/lost.ts';
import type { AfterRun } from './resources/runs/store/turns.ts';
import { createRetention } from './resources/retention/service.ts';
import { createRetentionStore } from './resources/retention/store.ts';
import { meteredRuns } from './resources/runs/metered.ts';
import { createRunService } from './resources/runs/service.ts';
import { createRunStore } from './resources/runs/store/index.ts';
import { createJobService } from './resources/scheduled-jobs/service.ts';
import { createFacts } from './resources/scheduled-jobs/builtin/facts.ts';
import { createOverrideStore } from './resources/scheduled-jobs/overrides.ts';
import { createBuiltinRunner } from './resources/scheduled-jobs/runner.ts';
import { createJobStore } from './resources/scheduled-jobs/store.ts';
import { jobPrefix, triggersOfJobs, triggersOfOverrides } from './resources/scheduled-jobs/triggers.ts';
import { createCodes } from './resources/sign-in/codes.ts';
import { countedCodes, countedSignIn } from './resources/sign-in/counted.ts';
import { createIdentityCaller } from './resources/sign-in/identity.ts';
import { createOidc } from './resources/sign-in/oidc.ts';
import { createSignIn } from './resources/sign-in/service.ts';
import { createSessions } from './resources/sign-in/sessions.ts';
import { createSignInStore } from './resources/sign-in/store.ts';
import { createSkillSection } from './resources/skills/boot.ts';
import { builtinReferences, builtinSkills } from './resources/skills/builtin/index.ts';
import { createSkillService } from './resources/skills/service.ts';
import { createSkillStore } from './resources/skills/store.ts';
import { withSkillLinks } from './resources/skills/tool-links.ts';
import { builtinTemplates } from './resources/templates/builtin/index.ts';
import { foldAllTallies } from './resources/tallies/store.ts';
import { createTemplateService } from './resources/templates/service.ts';
import { createTemplateStore } from './resources/templates/store.ts';
import { createAskHuman } from './resources/tools/builtin/ask-human.ts';
import { createSystemService } from './resources/system/service.ts';
import { createSystemStore } from './resources/system/store.ts';
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
import { observedTools } from './resources/tools/observed.ts';
import { createToolRegistry } from './resources/tools/registry.ts';
import { createToolService } from './resources/tools/service.ts';
import { createToolStore } from './resources/tools/store.ts';
import { createWebhookGateService } from './resources/webhook-gates/service.ts';
import { createWebhookGateStore } from './resources/webhook-gates/store.ts';
import { meteredWebhooks } from './resources/webhook-subscriptions/metered.ts';
import { createWebhookService } from './resources/webhook-subscriptions/service.ts';
import { signWebhook } from './resources/webhook-subscriptions/signature.ts';
import { createWebhookStore } from './resources/webhook-subscriptions/store.ts';
import { createProvisioner } from './resources/workspaces/provisioners/index.ts';
import type { ProvisionedTenant } from './resources/workspaces/provisioners/provisioner.ts';
import { createWorkspaceService } from './resources/workspaces/service.ts';
import { createWorkspaceStore } from './resources/workspaces/store.ts';
import type { Runtime, Work } from './runtime.ts';

/** A label: names that tenants choose are as many as they like. */
const shippedOrCustom = (name: string | null, isShipped: boolean): string => (isShipped ? name! : 'custom');

export type Services = ReturnType<typeof createServices>;

/**
 * For a process that is one part: makes its services, and closes what they hold open after the part itself.
 * @param start starts the part on them
 */
export const withServices =
  (start: (runtime: Runtime, services: Services) => Promise<Part & { close(): Promise<void> }>) =>
  async (runtime: Runtime): Promise<Work> => {
    const services = createServices(runtime);
    const up: Part[] = [];
    const metrics = await openMetrics(runtime, services, up);
    const part = await start(runtime, services);
    up.push(part);
    return {
      reload: () => services.system.reload(),
      async close() {
        await part.close();
        await metrics?.close(0);
        await services.close();
      },
    };
  };

export function createServices({ config, log, db, temporal }: Runtime) {
  // Plain http is for tools; a webhook address must be https, which its registration sees to.
  const egress = createEgress({
    ...{ allowlist: config.EGRESS_ALLOWLIST, allowHttp: true, limits: answerLimits(config) },
  });
  const files = createFileStore(config);
  const disk = createDisk(config.DATA_DIR, !config.FILES_S3_BUCKET);
  const meters = createMeters();
  const stalls = watchStalls({ meters, log });
  const modelLabel = modelLabels(config.OPENAI_COMPATIBLE_MODEL);
  const models = observedModels(createModels(config, { log, guardedFetch: egress.fetch }), meters, modelLabel);
  const secretBox = createSecretBox(config.SECRETS_KEY);
  const mcp = createMcpPool({
    ...{ servers: readMcpServers(config.MCP_SERVERS), guardedFetch: egress.fetch, settings: config, log },
  });

  const baseUrl = (config.BASE_URL ?? `http://localhost:${config.PORT}`).replace(/\/$/, '');
  const mailer = createMailer(config, log);
  const codeChecks = createOtpService({
    store: createOtpStore(db),
    mailer,
    secret: config.SESSION_SECRET,
    inbox: config.ADMIN_EMAIL,
    // Without a mail server codes are lines of the operator's own log, which nobody's mailbox is flooded by.
    mailsPerHour: config.SMTP_URL ? config.OTP_MAILS_PER_HOUR : Infinity,
  });
  const otp = countedOtp(codeChecks, meters);

  const signInStore = createSignInStore(db);
  const memberStore = createMemberStore(db, signInStore);
  const members = createMemberService({ store: memberStore });
  const codes = createCodes({
    ...{ store: signInStore, isMember: memberStore.isMember, mailer, secret: config.SESSION_SECRET, baseUrl, log },
  });
  const signInSteps = createSignIn({
    codes: countedCodes(codes, meters),
    oidc: createOidc(config),
    sessions: createSessions({ store: signInStore, secret: config.SESSION_SECRET, ttlMs: config.SESSION_TTL }),
    members: memberStore,
    secret: config.SESSION_SECRET,
  });
  const signIn = countedSignIn(signInSteps, meters);

  const addresses = createBaseAddresses(config);
  const integrationStore = createIntegrationStore(db);
  const routerKeys = createRouterKeyStore(db);
  const credentials = createCredentials({
    ...{ store: integrationStore, secretBox, addresses },
    managedRouter: routerCredential({ routerKeys, secretBox, url: config.MODEL_ROUTER_URL }),
  });

  const workspaceStore = createWorkspaceStore(db);
  const walletStore = createWalletStore(db);
  const billing = createBillingService({
    ...{ config, store: createBillingStore(db), wallet: walletStore, routerKeys, lease: createLease(db) },
    ...{ secretBox, modelVendorOf: credentials.modelVendorOf, log },
  });
  const memoryStore = createMemoryStore(db);
  const skillStore = createSkillStore(db);
  const agentStore = createAgentStore(db);
  const runStore = meteredRuns(createRunStore(db), meters, {
    agent: (slug) => shippedOrCustom(slug, slug !== null && builtinAgents.has(slug)),
    model: modelLabel,
  });
  const delivering = { pauseAfterMs: config.WEBHOOK_PAUSE_AFTER, lookAgainMs: config.LOST_WORK_INTERVAL };
  const webhookStore = meteredWebhooks(createWebhookStore(db, delivering), meters);
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
    ...{ store: miniappStore, temporal, log, secret: secretsIn(config.SESSION_SECRET)[0] },
    baseUrl,
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
  const allTools = createToolRegistry([shippedTools, createCustomTools(toolStore, toolKinds)]);
  const tools = observedTools(allTools, meters);

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
  const webhooks = createWebhookService({
    ...{ store: webhookStore, workspaces: workspaceStore, temporal, secretBox, egress, settings: config, log },
  });
  const recipientStore = createRecipientStore(db);
  const recipients = createRecipients({
    ...{ store: recipientStore, mailer: config.SMTP_URL ? mailer : undefined, secret: config.SESSION_SECRET },
    ...{ baseUrl, mailsPerDay: config.OUTPUT_MAILS_PER_DAY, log },
  });
  const deliver = createDeliver({
    ...{ secretBox, recipients },
    send: createOutputSender({
      fetch: egress.fetch,
      mailer: config.SMTP_URL ? mailer : undefined,
      sign: signWebhook,
      linkTo: (projectId) => `${baseUrl}/api/v1/cp/v1/projects/${projectId}/artifacts`,
      timeoutMs: config.OUTPUT_TIMEOUT,
    }),
  });
  const outputs = {
    store: meteredDestinations(createDestinationStore(db, delivering), meters),
    ...{ secretBox, deliver, timeoutMs: config.OUTPUT_TIMEOUT },
  };
  const templates = createTemplateService({
    store: createTemplateStore(db),
    agentExists: agentStore.isAgent,
    tools,
    skillExists: skillStore.existing,
    actionNames: ACTIONS.map(({ name }) => name),
  });

  const attachments = createAttachmentService({ store: attachmentStore, files, workspaces: workspaceStore });
  const triggers = createTriggers(temporal);
  const follow = followingRows({ temporal, triggers, log });
  const jobStore = createJobStore(db);
  const heartbeatStore = createHeartbeatStore(db);
  const triggerOfJob = triggersOfJobs(config);
  const overrideStore = createOverrideStore(db);
  const triggerOfOverride = triggersOfOverrides(config);
  const triggerOfHeartbeat = triggersOfHeartbeats(config);

  const provisioner = createProvisioner(config, {
    files,
    checkRuntime: () => withinDeadline(temporal, () => temporal.connection.workflowService.getSystemInfo({})),
  });
  /** Whoever takes a workspace down acts for it. */
  const destroyer = ({ workspaceId, customerId }: ProvisionedTenant): Caller => ({
    ...{ workspaceId, customerId, actor: 'system', standing: NO_STANDING },
  });

  return {
    workspaces: createWorkspaceService({
      ...{ temporal, store: workspaceStore, provisioner, settings: config, log },
      hasMinimumTopup: billing.hasMinimumTopup,
      mintBillingCustomer: billing.mintBillingCustomer,
      seedOwner: members.seedOwner,
      endAccess: (customerId, but) => signInStore.cutOffAll(customerId, but?.toLowerCase()),
    }),
    billing,
    /** What provisioning and destruction are made of. */
    teardown: {
      provisioner,
      pollMs: config.PROVISIONER_POLL,
      async stopTriggers({ customerId, workspaceId }: ProvisionedTenant) {
        await workspaceStore.switchOffTriggers(customerId);
        const jobs = await jobStore.list(customerId);
        const overridden = await overrideStore.list(customerId);
        const heartbeats = await heartbeatStore.list(customerId);
        const followers = [
          ...jobs.map((row) => triggerOfJob(row, workspaceId)),
          ...overridden.flatMap((row) => triggerOfOverride(row, workspaceId) ?? []),
          ...heartbeats.map((row) => triggerOfHeartbeat(row, workspaceId)),
        ];
        for (const { scheduleId } of followers) await triggers.remove(scheduleId);
      },
      takeBackRouterKey: (tenant: ProvisionedTenant) => billing.setModelRouter(destroyer(tenant), { enabled: false }),
      abandonProject: (tenant: ProvisionedTenant, projectId: string) =>
        projectCommands.abandon(destroyer(tenant), projectId),
      cancelRun: (tenant: ProvisionedTenant, runId: string) => runs.cancel(destroyer(tenant), runId),
    },
    jobs: createJobService({
      attachments,
      workspaces: workspaceStore,
      store: jobStore,
      triggerOf: triggerOfJob,
      overrides: overrideStore,
      triggerOfOverride,
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
        wanted: async () => [
          ...(await jobStore.listAll()).map(({ row, workspaceId }) => triggerOfJob(row, workspaceId)),
          ...(await overrideStore.listAll()).flatMap(
            ({ row, workspaceId }) => triggerOfOverride(row, workspaceId) ?? [],
          ),
        ],
      },
      {
        prefix: heartbeatPrefix(config),
        wanted: async () =>
          (await heartbeatStore.listAll()).map(({ row, workspaceId }) => triggerOfHeartbeat(row, workspaceId)),
      },
    ].map((rows) => ({ ...rows, triggers })),
    egress,
    files,
    meters,
    stalls,
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
      overrides: overrideStore,
      memory: memoryStore,
      miniapps: miniappStore,
      projects: projectStore,
      runs: runStore,
      wallets: walletStore,
      webhooks: webhookStore,
      workspaces: workspaceStore,
    },
    integrations: createIntegrationService({
      ...{ store: integrationStore, otp, secretBox, addresses, egress, temporal, settings: config, log },
    }),
    ...credentials,
    ...createHealthChecks({ store: integrationStore, secretBox, addresses, egress, settings: config, log }),
    boot: createBoot({ store: memoryStore, models, skillSection, settings: config, log }),
    engine: meteredProjects(createProjectEngine(db), db, meters, (slug) =>
      shippedOrCustom(
        slug,
        builtinTemplates.some(({ spec }) => spec.slug === slug),
      ),
    ),
    metering: createMetering(db),
    tariffOf: config.BILLING_MODE === 'live' ? walletStore.tariffOf : async () => undefined,
    /** For housekeeping. @param startFollowing starts what the end of a run sets off */
    settleRuns: (startFollowing: (after: AfterRun) => Promise<void>) =>
      createLostRuns(
        { temporal, store: runStore, startAgain: runs.startAgain, startFollowing, log },
        config.LOST_WORK_INTERVAL,
      ),
    settleProjects: createLostProjects({ ...starter, temporal, store: projectStore, log }, config.LOST_WORK_INTERVAL),
    tellPauses: createPauseTeller({
      kinds: [
        {
          what: 'webhook endpoint',
          pauses: webhookStore,
          remedy: (id) =>
            `POST /v1/webhook-deliveries/endpoints/${id}/resume on the control plane switches it on again.`,
        },
        {
          what: 'output destination',
          pauses: outputs.store,
          remedy: (id) => `PATCH /v1/output-destinations/${id} with {"enabled": true} switches it on again.`,
        },
      ],
      ...{ ownersOf: memberStore.listOwners, mailer, log },
    }),
    /** How many deliveries go to one host at once. */
    places: createPlaceStore(db, { atOnce: config.DELIVERIES_PER_HOST }),
    builtinJobs: createBuiltinRunner({ overrides: overrideStore, facts: createFacts(db), log }),
    foldTallies: (signal: AbortSignal) => foldAllTallies(db, signal),
    retention: createRetention({ store: createRetentionStore(db), settings: config, log }),
    audit: createAuditService({ store: createAuditStore(db), log }),
    runs,
    templates,
    attachments,
    projects: createProjectService({ temporal, store: projectStore, events: eventStore, starter, templates, log }),
    projectCommands,
    events: createEventService({ store: eventStore }),
    runArtifacts: createRunArtifactService({ store: createRunArtifactStore(db) }),
    disk,
    cost: createCostService({ store: createCostStore(db) }),
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
    webhookGates: createWebhookGateService({ store: createWebhookGateStore(db) }),
    webhooks,
    chat: createChatService({
      ...{ store: createChatStore(db), workspaces: workspaceStore, runs, attachments },
      ...{ agentExists: agentStore.isAgent, settings: config, log },
    }),
    outputs,
    destinations: createDestinationService({
      ...{ ...outputs, recipients, recipientStore, secretBox, workspaces: workspaceStore },
      ...{ temporal, egress, settings: config, log },
    }),
    apiKeys: createApiKeyService({ store: createApiKeyStore(db), workspaces: workspaceStore }),
    agents: createAgentService({
      store: agentStore,
      workspaces: workspaceStore,
      files,
      publicVisibility: config.PUBLIC_VISIBILITY,
      recentRuns: runs.summarizeAgent,
    }),
    members,
    signIn,
    /** Who shows an access token of the identity provider. */
    identityCaller: createIdentityCaller({
      ...{ settings: config, members: memberStore, believedFrom: signInStore.believedFrom },
    }),
    async close() {
      await mcp.close();
      await models.close();
      await closeThreads();
      await egress.close();
      stalls.stop();
    },
  };
}
