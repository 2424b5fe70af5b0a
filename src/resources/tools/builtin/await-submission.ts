/** Waits for what a person sends from a page that a miniapp tool opened, in this run or an earlier one. */
import { z } from 'zod';
import { DEFAULT_WAIT_S, MAX_WAIT_S } from '../../miniapps/model.ts';
import type { HumanWait } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';

export const awaitSubmission = builtinTool({
  slug: 'await_submission',
  area: 'people',
  description:
    'Waits until a person has filled in a page that a miniapp tool opened, and returns what was sent: {page_id, ' +
    'submitted_at, data}. Give the person the url of the page first, where nobody has it yet. After a time-out it can ' +
    'be called again for as long as the page is open.',
  effect: 'read',
  dispatch: 'human',
  args: z.strictObject({
    page_id: z.uuid().describe('As the miniapp tool returned it'),
    timeout_s: z.number().int().min(1).max(MAX_WAIT_S).default(DEFAULT_WAIT_S).describe('How long to wait, in seconds'),
  }),
  // Where the wait begins it is seen whether the page exists, and whether it was answered already.
  execute: async ({ page_id, timeout_s }): Promise<HumanWait> => ({ pageId: page_id, timeoutMs: timeout_s * 1_000 }),
});
