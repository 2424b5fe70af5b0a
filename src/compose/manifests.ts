/** Makes what brings a workspace to what files say. */
import { secretsIn } from '../platform/core/crypto.ts';
import { agentKind } from '../resources/manifests/kinds/agent.ts';
import { destinationKind } from '../resources/manifests/kinds/destination.ts';
import { heartbeatKind } from '../resources/manifests/kinds/heartbeat.ts';
import { jobKind } from '../resources/manifests/kinds/job.ts';
import { memoryKind } from '../resources/manifests/kinds/memory.ts';
import { skillKind } from '../resources/manifests/kinds/skill.ts';
import { toolKind } from '../resources/manifests/kinds/tool.ts';
import { webhookKind } from '../resources/manifests/kinds/webhook.ts';
import { workflowKind } from '../resources/manifests/kinds/workflow.ts';
import { createManifestService } from '../resources/manifests/service.ts';
import { createManifestStore } from '../resources/manifests/store.ts';
import { ACTIONS } from '../resources/actions/builtin/index.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Deliveries } from './deliveries.ts';
import type { Knowledge } from './knowledge.ts';
import type { Pipelines } from './pipelines.ts';
import type { Platform } from './platform.ts';
import type { Runs } from './runs.ts';
import type { Tools } from './tools.ts';
import type { TriggerServices } from './triggers.ts';

interface Domains {
  access: Access;
  knowledge: Knowledge;
  tools: Tools;
  runs: Runs;
  pipelines: Pipelines;
  triggers: TriggerServices;
  deliveries: Deliveries;
}

export type Manifests = ReturnType<typeof composeManifests>;

export function composeManifests({ config, db, log }: Runtime, { files, follow }: Platform, domains: Domains) {
  const { access, knowledge, tools, runs, pipelines, triggers, deliveries } = domains;
  const { workspaces } = access.stores;
  return {
    manifests: createManifestService({
      db,
      store: createManifestStore(db),
      kinds: [
        toolKind({ customTools: tools.customTools, tools: tools.tools, store: tools.stores.customTools, workspaces }),
        skillKind({ skills: tools.skills, store: knowledge.stores.skills }),
        agentKind({ agents: runs.agents, store: knowledge.stores.agents, discard: (file) => files.discard(file) }),
        memoryKind({ memory: knowledge.memory, store: knowledge.stores.memory, workspaces }),
        workflowKind({
          templates: pipelines.templates,
          store: pipelines.stores.templates,
          actionNames: ACTIONS.map(({ name }) => name),
        }),
        jobKind({ jobs: triggers.jobs, store: triggers.stores.jobs, workspaces, follow }),
        heartbeatKind({ heartbeats: triggers.heartbeats, store: triggers.stores.heartbeats, workspaces, follow }),
        destinationKind({ destinations: deliveries.destinations, store: deliveries.stores.destinations, workspaces }),
        webhookKind(deliveries.webhooks),
      ],
      publicVisibility: config.PUBLIC_VISIBILITY,
      secret: secretsIn(config.SESSION_SECRET)[0],
      log,
    }),
  };
}
