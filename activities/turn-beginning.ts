/** How a run begins its first turn, and what its later ones go on with: who answers, on which model, knowing what. */
import { EFFORTS, type Effort } from '../src/platform/core/effort.ts';
import { isOneOf } from '../src/platform/core/one-of.ts';
import { effortNote, takenEffort } from '../src/platform/models/efforts.ts';
import { preferSample } from '../src/platform/models/resolve.ts';
import { mostTools } from '../src/platform/models/tool-limits.ts';
import {
  type ModelCredentials,
  type Models,
  type RecordedReply,
  type ResolvedModel,
} from '../src/platform/models/types.ts';
import { present } from '../src/platform/core/present.ts';
import type { AgentContext, BeginningRequest } from '../src/resources/agent-context/beginning.ts';
import { toolsOf, withinLimit } from '../src/resources/agent-context/offered-tools.ts';
import { systemPrompt } from '../src/resources/agent-context/transcript.ts';
import { hasChosenModel } from '../src/resources/agents/builtin/index.ts';
import type { Agent } from '../src/resources/agents/model.ts';
import type { AgentStore, RunWithAgent } from '../src/resources/agents/store.ts';
import { SAMPLE_NOTE } from '../src/resources/samples/model.ts';
import { systemText, type SystemContent } from '../src/resources/runs/model.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { RunInTurn } from '../src/resources/runs/store/run-in-turn.ts';
import { adaptationOf } from '../src/resources/tools/arguments.ts';
import { isCallable, type Tool } from '../src/resources/tools/model.ts';
import type { ToolRegistry } from '../src/resources/tools/registry.ts';
import { createClassifier, type Classification } from './classify.ts';
import { fail } from './failures.ts';

export interface TurnBeginningDependencies {
  runs: RunStore;
  agents: AgentStore;
  tools: Pick<ToolRegistry, 'find'>;
  models: Models;
  /** @returns what the workspace gave to its integrations for models */
  modelCredentials: (customerId: string) => Promise<ModelCredentials>;
  /** @returns the recorded reply to a turn, if the run belongs to a sample */
  findRecordedReply: (run: RunInTurn, turn: number) => Promise<RecordedReply | undefined>;
  /** Loads what an agent knows when its run begins: its skills, and memories that are always loaded or near the prompt. */
  loadBeginning: (request: BeginningRequest) => Promise<AgentContext>;
}

export interface Answering {
  agent: Agent;
  resolved: ResolvedModel;
  /** Those of the run's tools that exist. */
  offered: readonly Tool[];
  /** How hard the model thinks; undefined leaves it to the model. */
  effort: Effort | undefined;
  credentials: ModelCredentials;
}

export const createTurnBeginning = (deps: TurnBeginningDependencies) => {
  const { runs, agents, tools, models, modelCredentials, loadBeginning, findRecordedReply } = deps;
  const classify = createClassifier(models);
  const credentialsOf = async ({ customerId, hasModelCredentials }: RunInTurn) =>
    models.credentials(hasModelCredentials ? await modelCredentials(customerId) : {});

  async function offeredTo(
    run: RunInTurn,
    { agent, resolved, credentials }: Pick<Answering, 'agent' | 'resolved' | 'credentials'>,
  ): Promise<readonly Tool[]> {
    const wanted = toolsOf(run, agent);
    if (wanted.length === 0) return [];
    return withinLimit(await tools.find(run.customerId, wanted), mostTools(resolved, credentials));
  }

  /** Decides who answers on which model. The first turn records it, and later turns read the record. */
  async function begin(run: RunWithAgent): Promise<Answering> {
    let classified: Classification | undefined;
    if (run.agent === null)
      classified = await classify(run.customerId, run.prompt, await agents.listAgents(run.customerId));
    const slug = run.agent ?? present(classified).agent;
    const agent = existing(slug, run.agent === null ? await agents.loadAgent(run.customerId, slug) : run.named);
    const credentials = await credentialsOf(run);
    const chosen = models.resolve(
      {
        model: agent.model,
        defaultModel: agent.defaultModel,
        selectionMode: agent.selectionMode,
        reasoning: (run.override?.reasoning as boolean | undefined) ?? agent.reasoning,
        enforce: agent.resolverEnforce,
        override: (run.override?.model_override as string | undefined) ?? null,
        prompt: run.prompt,
        isBuiltin: !hasChosenModel(agent),
      },
      credentials,
    );
    const hasSample = chosen.rule === 'offline' && (await findRecordedReply({ ...run, agent: slug }, 1)) !== undefined;
    const resolved = preferSample(chosen, hasSample);
    const { model, tier, rule, enforce, reasoning } = resolved;
    const prompt = systemPrompt(agent, run.conversation !== null);
    const { customerId } = run;
    const { loaded, recalled, ...known } = await loadBeginning({
      customerId,
      agent: agent.slug,
      prompt: run.prompt,
      stepSkills: run.step?.skills,
      hasEntries: run.hasEntries,
    });
    const system: SystemContent = known.skills + known.memory === '' ? prompt : { prompt, ...known };
    run.messages = [
      { turn: 0, role: 'system', content: system },
      { turn: 0, role: 'user', content: run.prompt },
    ];
    const offered = await offeredTo(run, { agent, resolved, credentials });
    const callable = offered.filter(isCallable).map(({ slug }) => slug);
    const wanted = effortOf(run, agent);
    const effort = takenEffort(wanted, models.efforts(resolved));
    const note = resolved.provider === 'sample' ? SAMPLE_NOTE : effortNote(wanted, effort);
    const withheld = [...new Set(toolsOf(run, agent))].filter((slug) => !callable.includes(slug));
    await runs.beginRun({
      runId: run.id,
      agent: agent.slug,
      resolved,
      system,
      user: run.prompt,
      customerId,
      recalled,
      isConversation: run.conversation !== null,
      events: [
        { key: 'started', type: 'run_started', status: 'running' },
        {
          key: 'model',
          type: 'model_resolved',
          payload: {
            model,
            tier,
            rule,
            enforce,
            reasoning,
            ...(effort && { effort }),
            ...(classified ? { classifier: { ...classified } } : {}),
            ...(note !== undefined && { note }),
          },
        },
        {
          key: 'context',
          type: 'context_loaded',
          payload: {
            agent: agent.slug,
            system_length: systemText(system).length,
            tools: callable,
            ...(withheld.length > 0 && { tools_withheld: withheld }),
            ...reasons(offered),
            ...loaded,
          },
        },
      ],
    });
    run.status = 'running';
    run.agent = agent.slug;
    run.modelProvider = resolved.provider;
    return { agent, resolved, offered, effort, credentials };
  }

  async function resume(run: RunWithAgent): Promise<Answering> {
    const agent = existing(present(run.agent), run.named);
    const resolved = {
      model: run.model!,
      provider: run.modelProvider!,
      tier: run.modelTier!,
      rule: run.modelRule,
      enforce: run.modelEnforce,
      reasoning: run.reasoning ?? false,
      contextWindow: run.contextWindow!,
    };
    const credentials = await credentialsOf(run);
    const offered = await offeredTo(run, { agent, resolved, credentials });
    const effort = takenEffort(effortOf(run, agent), models.efforts(resolved));
    return { agent, resolved, offered, effort, credentials };
  }

  return { begin, resume };
};

/** Whoever is nearest to the call decides: the request, the step, the agent. */
const effortOf = ({ override, step }: RunInTurn, agent: Agent): Effort | undefined =>
  (isOneOf(EFFORTS, override?.effort) ? override.effort : undefined) ?? step?.effort ?? agent.effort ?? undefined;

/** @returns why tools are withheld, or told in another form */
function reasons(offered: readonly Tool[]) {
  const of = (reason: (tool: Tool) => string | undefined) =>
    Object.fromEntries(offered.map((tool) => [tool.slug, reason(tool)]).filter(([, why]) => why !== undefined));
  const withheld = of(({ unavailable }) => unavailable);
  const adapted = of((tool) => (isCallable(tool) ? adaptationOf(tool) : undefined));
  return {
    ...(Object.keys(withheld).length > 0 && { withheld_because: withheld }),
    ...(Object.keys(adapted).length > 0 && { adapted_because: adapted }),
  };
}

function existing(slug: string, agent: Agent | undefined): Agent {
  if (!agent) throw fail('agent_not_found', `the agent "${slug}" does not exist any more`);
  return agent;
}
