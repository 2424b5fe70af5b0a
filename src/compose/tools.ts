/** Makes what agents can call: tools that ship, those of MCP servers and those that a workspace made. */
import { createMiniappService } from '../resources/miniapps/service.ts';
import { createMiniappStore } from '../resources/miniapps/store.ts';
import { builtinReferences } from '../resources/skills/builtin/index.ts';
import { createSkillService } from '../resources/skills/service.ts';
import { integrations } from '../resources/integrations/catalogue.ts';
import { createReferences } from '../resources/references/service.ts';
import { NAMING } from '../resources/naming.ts';
import { createReferenceStore } from '../resources/references/store.ts';
import { createBuiltinTools } from '../resources/tools/builtin/index.ts';
import { createCommand } from '../resources/tools/custom/command.ts';
import { createContainer } from '../resources/tools/custom/container.ts';
import { createCustomTools } from '../resources/tools/custom/index.ts';
import type { CustomKinds } from '../resources/tools/custom/kind.ts';
import { createMiniapp } from '../resources/tools/custom/miniapp.ts';
import { createScript } from '../resources/tools/custom/script.ts';
import { stub } from '../resources/tools/custom/stub.ts';
import { webhook } from '../resources/tools/custom/webhook.ts';
import { createMcpTools } from '../resources/tools/mcp.ts';
import { meteredTools } from '../resources/tools/metered.ts';
import { createToolRegistry, toolsAmong } from '../resources/tools/registry.ts';
import { createToolService } from '../resources/tools/service.ts';
import { createToolStore } from '../resources/tools/store.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Integrations } from './integrations.ts';
import type { Knowledge } from './knowledge.ts';
import { toolsWithPageKeys } from './page-keys.ts';
import type { Platform } from './platform.ts';
import type { Projects } from './projects.ts';

export type Tools = ReturnType<typeof composeTools>;

export function composeTools(
  { config, log, db, temporal }: Runtime,
  { baseUrl, mcp, meters, models, pageKeys, sandboxes, secretBox }: Platform,
  { stores: { workspaces } }: Access,
  { mcpServersOf, modelCredentials, tokenOrigins }: Integrations,
  { agentMemory, stores: { agents, attachments, skills } }: Knowledge,
  { projectReader, projectCommands }: Projects,
) {
  const miniappStore = createMiniappStore(db);
  const miniapps = createMiniappService({
    store: miniappStore,
    temporal,
    log,
    pageKeys,
    baseUrl,
  });
  const mcpTools = createMcpTools({ pool: mcp, serversOf: mcpServersOf, timeoutMs: config.MCP_TIMEOUT });
  /** No workspace made these tools, and none of its own may have one of their slugs. */
  const shipped = createToolRegistry([
    createBuiltinTools({
      projects: { ...projectReader, ...projectCommands },
      attachments,
      skills,
      memory: agentMemory,
      pages: miniapps,
    }),
    mcpTools,
  ]);
  const store = createToolStore(db, secretBox);
  const kinds: CustomKinds = {
    stub,
    webhook,
    script: createScript(sandboxes.script),
    command: createCommand(sandboxes.command),
    container: createContainer(sandboxes.container),
    miniapp: createMiniapp(miniapps),
  };
  const tools = toolsWithPageKeys(
    meteredTools(createToolRegistry([shipped, createCustomTools(store, kinds)]), meters),
    pageKeys,
  );
  const references = createReferences({
    store: createReferenceStore(db, NAMING),
    agents,
    tools,
    models,
    modelCredentials,
  });
  return {
    stores: { miniapps: miniappStore, customTools: store },
    miniapps,
    tools,
    references,
    customTools: createToolService({
      store,
      workspaces,
      references,
      shipped,
      mcpServers: mcpTools.servers,
      kinds,
      isIntegration: (slug) => integrations.has(slug),
      tokenOrigins,
      builtinUses: builtinReferences,
      publicVisibility: config.PUBLIC_VISIBILITY,
    }),
    skills: createSkillService({
      store: skills,
      workspaces,
      models,
      references,
      toolsAmong: toolsAmong({ shipped, store }),
      publicVisibility: config.PUBLIC_VISIBILITY,
    }),
  };
}
