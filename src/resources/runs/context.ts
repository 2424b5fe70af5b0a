/** What filled the context window of a run: sizes by category, and the raw text in pages. */
import { Problem } from '../../platform/core/problem.ts';
import type { Models } from '../../platform/models/types.ts';
import type { AgentStore } from '../agents/store.ts';
import { LOAD_SKILL } from '../skills/model.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { CONTEXT_CATEGORIES, type ContextCategory, type SystemContent } from './model.ts';
import type { RunInTurn } from './store/turns.ts';

export interface ContextDependencies {
  models: Pick<Models, 'countTokens'>;
  /** The declarations, as text, of the tools that the agent of a run is offered. */
  toolDeclarations: (run: RunInTurn, agent: string) => Promise<string[]>;
}

/** As `toolDeclarations` above. */
export const declaredTools =
  ({ agents, tools }: { agents: Pick<AgentStore, 'loadAgent'>; tools: Pick<ToolRegistry, 'find'> }) =>
  async (run: RunInTurn, slug: string): Promise<string[]> => {
    const agent = await agents.loadAgent(run.customerId, slug);
    const offered = await tools.find(run.customerId, toolsOf(run, agent));
    return offered
      .filter(({ unavailable }) => unavailable === undefined)
      .map(({ slug, description, parameters }) => JSON.stringify({ slug, description, parameters }));
  };

/** What a run may use: as a step of a project what that is bound to, else what its agent is allowed. */
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

const READ_ATTACHMENT = 'read_attachment';

interface Piece {
  category: ContextCategory;
  text: string;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A run with what was said before it in its conversation. */
export type Transcript = RunInTurn & { earlier: readonly { prompt: string; output: string }[] };

/** The system message in its parts, where it was recorded so. */
const ofSystem = (content: SystemContent): Piece[] =>
  typeof content === 'string'
    ? [{ category: 'system_prompt', text: content }]
    : (
        [
          { category: 'system_prompt', text: content.prompt },
          { category: 'skills', text: content.skills },
          { category: 'memory', text: content.memory },
        ] as const
      ).filter(({ text }) => text !== '');

/** The transcript in the order in which the model read it. */
function pieces({ messages, toolCalls, earlier }: Transcript): Piece[] {
  const [system, ...said] = messages;
  if (!system) throw new Problem('not_found');
  return [
    ...ofSystem(system.content as SystemContent),
    ...earlier.flatMap(({ prompt, output }) => [prompt, output]).map((text): Piece => ({ category: 'messages', text })),
    ...said.flatMap(({ turn, role, content }): Piece[] => [
      { category: 'messages', text: asText(content) },
      ...toolCalls
        .filter((call) => role === 'assistant' && call.turn === turn)
        .map(({ result }): Piece => ({ category: 'tool_results', text: asText(result) })),
    ]),
  ];
}

export async function contextOf({ models, toolDeclarations }: ContextDependencies, run: Transcript) {
  const tools = run.agent === null ? [] : await toolDeclarations(run, run.agent);
  const all = [...pieces(run), ...tools.map((text): Piece => ({ category: 'tools', text }))];
  const sizeOf = async (category: ContextCategory) => {
    const texts = all.filter((piece) => piece.category === category).map(({ text }) => text);
    const tokens = await Promise.all(texts.map((text) => models.countTokens(text)));
    return {
      category,
      tokens: tokens.reduce((sum, count) => sum + count, 0),
      bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    };
  };
  const categories = await Promise.all(CONTEXT_CATEGORIES.map(sizeOf));
  return {
    run_id: run.id,
    model: run.model,
    context_window: run.contextWindow,
    total_tokens: categories.reduce((sum, { tokens }) => sum + tokens, 0),
    categories,
  };
}

const PAGE_BYTES = 64 * 1024;

/** The page that ends at `beforeByte` (the end of the text, when absent), cut between characters. */
export function contextPage(run: Transcript, beforeByte?: number) {
  const text = Buffer.from(
    pieces(run)
      .map(({ category, text }) => `--- ${category}\n${text}\n`)
      .join('\n'),
  );
  const end = startOfCharacter(text, Math.min(beforeByte ?? text.length, text.length));
  const start = startOfCharacter(text, Math.max(0, end - PAGE_BYTES));
  return {
    content: text.subarray(start, end).toString('utf8'),
    before_byte: end,
    next_before_byte: start === 0 ? null : start,
    total_bytes: text.length,
  };
}

/** The nearest position at or before this one at which a UTF-8 character begins. */
function startOfCharacter(text: Buffer, position: number): number {
  let start = position;
  while (start > 0 && start < text.length && (text[start]! & 0xc0) === 0x80) start--;
  return start;
}
