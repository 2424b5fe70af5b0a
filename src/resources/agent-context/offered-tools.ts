/** Decides which tools a run may use, and how they are declared to its model. */
import type { AgentStore } from '../agents/store.ts';
import type { SystemContent } from '../runs/model.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';
import { LOAD_SKILL } from '../skills/model.ts';
import { categoryOf, isCallable, type Tool } from '../tools/model.ts';
import type { ToolRegistry } from '../tools/registry.ts';

const READ_ATTACHMENT = 'read_attachment';

/** @returns the tools that a project's step is bound to, otherwise those that the agent is allowed */
export const toolsOf = (
  {
    step,
    parentRunId,
    jobN,
    threadHasFiles,
    messages,
  }: Pick<RunInTurn, 'step' | 'parentRunId' | 'jobN' | 'threadHasFiles' | 'messages'>,
  { allowedTools = [] }: { allowedTools?: readonly string[] } = {},
): readonly string[] => {
  const named = step && parentRunId === null ? step.tools : allowedTools;
  const system = messages.find(({ role }) => role === 'system')?.content as SystemContent | undefined;
  return [
    ...named,
    // The files beside a scheduled job or a chat thread are there for its runs, whoever makes them.
    ...(jobN !== null || threadHasFiles ? [READ_ATTACHMENT] : []),
    // Who was told of skills can load them.
    ...(typeof system === 'object' && system.skills !== '' ? [LOAD_SKILL] : []),
  ];
};

/**
 * Withholds the tools beyond those that the provider takes in a request. The agent's order decides which, but tools of MCP
 * servers, of which one server may bring a hundred, come after all others.
 */
export function withinLimit(tools: readonly Tool[], most: number): readonly Tool[] {
  const callable = tools.filter(isCallable);
  if (callable.length <= most) return tools;
  const isOfServer = ({ module }: Tool): boolean => categoryOf(module) === 'mcp';
  const ranked = [...callable.filter((tool) => !isOfServer(tool)), ...callable.filter(isOfServer)];
  const beyond = new Set(ranked.slice(most));
  const unavailable = `the provider of the model takes ${most} tools in a request, and this one is beyond`;
  return tools.map((tool) => (beyond.has(tool) ? { ...tool, unavailable } : tool));
}

/** @returns the declarations, as text, of the tools that the agent of a run is offered */
export const declaredTools =
  ({ agents, tools }: { agents: Pick<AgentStore, 'loadAgent'>; tools: Pick<ToolRegistry, 'find'> }) =>
  async (run: RunInTurn, slug: string): Promise<string[]> => {
    const agent = await agents.loadAgent(run.customerId, slug);
    const offered = await tools.find(run.customerId, toolsOf(run, agent));
    return offered
      .filter(isCallable)
      .map(({ slug, description, parameters }) => JSON.stringify({ slug, description, parameters }));
  };
