/** Asks a person, and waits for the answer for as long as it takes. The workflow waits, so that no worker has to. */
import { z } from 'zod';
import { ASK_HUMAN, DEFAULT_WAIT_S, MAX_WAIT_S } from '../../miniapps/model.ts';
import type { HumanWait } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';
import { QUESTION_HTML } from './question-page.ts';

export interface Pages {
  open(page: {
    customerId: string;
    runId: string;
    callId: string;
    tool: string;
    html: string;
    ttlMs: number;
  }): Promise<{ pageId: string; url: string }>;
}

export const createAskHuman = (pages: Pages) =>
  builtinTool({
    slug: ASK_HUMAN,
    area: 'people',
    description:
      'Asks a person a question and waits for the answer. Use it for what only a person can know or decide; it may ' +
      'take hours, so ask everything at once and nothing that you can find out. It does not approve a step of a ' +
      'project. Returns {page_id, submitted_at, data: {answer}}.',
    // The page is kept under the call, so asking again shows the same one.
    effect: 'idempotent',
    dispatch: 'human',
    args: z.strictObject({
      question: z.string().min(1).max(10_000).describe('All that the person needs to know to answer'),
      options: z.array(z.string().min(1).max(200)).min(1).max(20).optional().describe('Answers to choose from'),
      timeout_s: z
        .number()
        .int()
        .min(1)
        .max(MAX_WAIT_S)
        .default(DEFAULT_WAIT_S)
        .describe('How long to wait, in seconds'),
    }),
    async execute({ timeout_s }, { customerId, runId, callId }): Promise<HumanWait> {
      const timeoutMs = timeout_s * 1_000;
      const page = { customerId, runId, callId, tool: ASK_HUMAN, html: QUESTION_HTML, ttlMs: timeoutMs };
      return { ...(await pages.open(page)), timeoutMs };
    },
  });
