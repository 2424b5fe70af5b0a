/** Makes runs and what is asked about them: agents, chats, what they wrote and what they cost. */
import { declaredTools } from '../resources/agent-context/offered-tools.ts';
import { createContextReports } from '../resources/agent-context/report.ts';
import { builtinAgents } from '../resources/agents/builtin/index.ts';
import { createAgentService } from '../resources/agents/service.ts';
import { createChatService } from '../resources/chat/service.ts';
import { createChatStore } from '../resources/chat/store.ts';
import { createCapService } from '../resources/cost/caps/service.ts';
import { createCapStore } from '../resources/cost/caps/store.ts';
import { createCostService } from '../resources/cost/service.ts';
import { createCostStore } from '../resources/cost/store.ts';
import { createRunArtifactService } from '../resources/run-artifacts/service.ts';
import { createRunArtifactStore } from '../resources/run-artifacts/store.ts';
import { createLostEffects } from '../resources/runs/lost-effects.ts';
import { createLostRuns } from '../resources/runs/lost.ts';
import { meteredRuns } from '../resources/runs/metered.ts';
import { createRunService } from '../resources/runs/service.ts';
import { createRunViews } from '../resources/runs/views/service.ts';
import { createRunStore } from '../resources/runs/store/index.ts';
import type { AfterRun } from '../resources/runs/store/turns.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Knowledge } from './knowledge.ts';
import { shippedOrCustom } from './labels.ts';
import type { Platform } from './platform.ts';
import type { Tools } from './tools.ts';

export type Runs = ReturnType<typeof composeRuns>;

export function composeRuns(
  { config, log, db, temporal }: Runtime,
  { files, meters, modelLabel, models }: Platform,
  { stores: { workspaces } }: Access,
  { attachments, stores: { agents } }: Knowledge,
  { references, tools }: Tools,
) {
  const store = meteredRuns(createRunStore(db), meters, {
    agent: (slug) => shippedOrCustom(slug, slug !== null && builtinAgents.has(slug)),
    model: modelLabel,
  });
  const runs = createRunService({
    temporal,
    store,
    config,
    log,
    agentExists: agents.isAgent,
    contextReports: createContextReports({ models, toolDeclarations: declaredTools({ agents, tools }) }),
  });
  return {
    runViews: createRunViews({ store, detailTtlMs: config.RUN_DETAIL_TTL }),
    stores: { runs: store },
    lostEffects: createLostEffects({ store, temporal, log }),
    runs,
    agents: createAgentService({
      store: agents,
      workspaces,
      files,
      references,
      publicVisibility: config.PUBLIC_VISIBILITY,
      recentRuns: runs.summarizeAgent,
    }),
    chat: createChatService({
      store: createChatStore(db),
      workspaces,
      runs,
      attachments,
      agentExists: agents.isAgent,
      settings: config,
      log,
    }),
    cost: createCostService({ store: createCostStore(db) }),
    caps: createCapService({ store: createCapStore(db), agentExists: agents.isAgent }),
    runArtifacts: createRunArtifactService({ store: createRunArtifactStore(db) }),
    /** Serves housekeeping. @param startFollowing starts what the end of a run sets off */
    settleRuns: (startFollowing: (after: AfterRun) => Promise<void>) =>
      createLostRuns({ temporal, store, startAgain: runs.startAgain, startFollowing, log }, config.LOST_WORK_INTERVAL),
  };
}
