/**
 * Opens a page for a person: the tool's HTML with the arguments of the call as `window.ARGS`. What its forms send, or a
 * script of it gives to `window.submit(value)`, is what `await_submission` returns.
 */
import { z } from 'zod';
import { MAX_HTML, PAGE_TTL_MS } from '../../miniapps/model.ts';
import type { Pages } from '../builtin/ask-human.ts';
import { customKind } from './kind.ts';

export const createMiniapp = (pages: Pages) =>
  customKind({
    // A call makes one page, however often it is repeated.
    defaults: { shape: 'miniapp', sensitive: true, effect: 'idempotent' },
    body: z.strictObject({ html: z.string().min(1).max(MAX_HTML) }),
    async execute({ html }, _args, { customerId, runId, callId }, { slug }) {
      const page = { customerId, runId, callId, tool: slug, html, ttlMs: PAGE_TTL_MS };
      const { pageId, url } = await pages.open(page);
      return { page_id: pageId, url };
    },
  });
