/** Reports what filled the context window of a run: sizes by category, and the raw text in pages. */
import { withoutPageKeys } from '../../platform/core/page-keys.ts';
import { itemAt } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Models } from '../../platform/models/types.ts';
import type { RunContextPage } from '../runs/contract.ts';
import { CONTEXT_CATEGORIES, type ContextCategory, type SystemContent } from '../runs/model.ts';
import type { ContextReports, RunInConversation } from '../runs/service.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';
import { withoutOpaque } from '../../platform/models/recorded-parts.ts';
import { utterances } from './transcript.ts';

interface ReportDependencies {
  models: Pick<Models, 'countTokens'>;
  /** @returns the declarations, as text, of the tools that the agent of a run is offered */
  toolDeclarations: (run: RunInTurn, agent: string) => Promise<string[]>;
}

interface Piece {
  category: ContextCategory;
  text: string;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Splits the system message into its parts, where it was recorded so. */
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

/**
 * @returns the pieces in the order in which the model read them
 * @throws Problem not_found for a run that has not begun
 */
function pieces(run: RunInConversation): Piece[] {
  const [system] = run.messages;
  if (!system) throw new Problem('not_found');
  return [
    ...ofSystem(system.content as SystemContent),
    ...utterances(run, run.earlier).flatMap(({ content, results }): Piece[] => [
      { category: 'messages', text: asText(withoutOpaque(content)) },
      ...results.map(({ result }): Piece => ({ category: 'tool_results', text: asText(result) })),
    ]),
  ];
}

export const createContextReports = ({ models, toolDeclarations }: ReportDependencies): ContextReports => ({
  async summarize(run) {
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
  },
  page: pageOf,
});

const PAGE_BYTES = 64 * 1024;

/**
 * Texts that people paste can hold keys of page addresses. They go before the text is cut: a caller who chooses the cut
 * could otherwise separate a key from what tells that it is one.
 * @returns one page of the text, cut between characters
 */
function pageOf(run: RunInConversation, beforeByte?: number): RunContextPage {
  const whole = pieces(run).map(({ category, text }) => `--- ${category}\n${text}\n`);
  const text = Buffer.from(withoutPageKeys(whole.join('\n')));
  const end = startOfCharacter(text, Math.min(beforeByte ?? text.length, text.length));
  const start = startOfCharacter(text, Math.max(0, end - PAGE_BYTES));
  return {
    content: text.subarray(start, end).toString('utf8'),
    before_byte: end,
    next_before_byte: start === 0 ? null : start,
    total_bytes: text.length,
  };
}

/** @returns the nearest position at or before this one at which a UTF-8 character begins */
function startOfCharacter(text: Buffer, position: number): number {
  let start = position;
  while (start > 0 && start < text.length && (itemAt(text, start) & 0xc0) === 0x80) start--;
  return start;
}
