/** Makes what brings a workspace to what files say. */
import { secretsIn } from '../platform/core/crypto.ts';
import { agentKind } from '../resources/manifests/kinds/agent.ts';
import { skillKind } from '../resources/manifests/kinds/skill.ts';
import { toolKind } from '../resources/manifests/kinds/tool.ts';
import { workflowKind } from '../resources/manifests/kinds/workflow.ts';
import { createManifestService } from '../resources/manifests/service.ts';
import { createManifestStore } from '../resources/manifests/store.ts';
import { ACTIONS } from '../resources/projects/builtin/index.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Knowledge } from './knowledge.ts';
import type { Pipelines } from './pipelines.ts';
import type { Platform } from './platform.ts';
import type { Runs } from './runs.ts';
import type { Tools } from './tools.ts';

interface Domains {
  access: Access;
  knowledge: Knowledge;
  tools: Tools;
  runs: Runs;
  pipelines: Pipelines;
}

export function composeManifests({ config, db, log }: Runtime, { files }: Platform, domains: Domains) {
  const { access, knowledge, tools, runs, pipelines } = domains;
  const { workspaces } = access.stores;
  return {
    manifests: createManifestService({
      db,
      store: createManifestStore(db),
      kinds: [
        toolKind({ customTools: tools.customTools, tools: tools.tools, store: tools.stores.customTools, workspaces }),
        skillKind({ skills: tools.skills, store: knowledge.stores.skills, workspaces }),
        agentKind({ agents: runs.agents, store: knowledge.stores.agents, discard: (file) => files.delete(file) }),
        workflowKind({
          templates: pipelines.templates,
          store: pipelines.stores.templates,
          actionNames: ACTIONS.map(({ name }) => name),
        }),
      ],
      secret: secretsIn(config.SESSION_SECRET)[0],
      log,
    }),
  };
}
