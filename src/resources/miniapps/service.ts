/**
 * Pages that runs open for people. What a person sends is recorded first; then the runs that wait for it are told, by
 * signal. Housekeeping tells those whom a signal did not reach.
 *
 * The token in an address is all that it takes to see and answer a page. A run, its texts and its history have the address
 * without the token's key, which `core/page-keys.ts` adds to what leaves for somebody who may answer.
 */
import { submittedSignal } from '../../../workflows/run/messages.ts';
import { newUuid } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { partsOfToken, type PageKeys } from '../../platform/core/page-keys.ts';
import { Problem } from '../../platform/core/problem.ts';
import { urgently } from '../../platform/db/client.ts';
import type { Claim } from '../../platform/http/once-only.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { isWorkflowGone, withinDeadline } from '../../platform/temporal/problems.ts';
import { runWorkflowId } from '../runs/model.ts';
import { MINIAPPS_PATH, runOfWait } from './model.ts';
import type { MiniappStore, NewPage, PageAddress, ServedPage, Submitter, Untold } from './store.ts';

export interface MiniappOptions {
  store: MiniappStore;
  temporal: Temporal;
  log: Log;
  pageKeys: PageKeys;
  /** The public address of the gateway. */
  baseUrl: string;
}

const BATCH = 200;
/** Somebody who has the address of a page and need not be signed in. */
const ANYBODY: Submitter = { name: 'page', via: 'page' };

export type MiniappService = ReturnType<typeof createMiniappService>;

export function createMiniappService({ store, temporal, log, pageKeys, baseUrl }: MiniappOptions) {
  async function tell({ pageId, waits }: Untold): Promise<void> {
    for (const wait of waits) {
      const run = temporal.client.workflow.getHandle(runWorkflowId(runOfWait(wait)));
      try {
        await withinDeadline(temporal, () => run.signal(submittedSignal, pageId));
      } catch (error) {
        // A run that has ended waits for nothing.
        if (!isWorkflowGone(error)) throw error;
      }
      await store.markTold(pageId, wait);
    }
  }

  const tellLater = (err: unknown) =>
    log.warn({ err }, 'a run could not be told of a submission; housekeeping will tell it');

  /** @returns undefined for a token that opens nothing */
  async function addressOf(token: string): Promise<PageAddress | undefined> {
    const parts = partsOfToken(token);
    if (!parts) return undefined;
    const { pageId, key } = parts;
    const customerId = await store.findOwner(pageId);
    return customerId !== undefined && pageKeys.isKeyOf({ customerId, pageId }, key)
      ? { customerId, pageId }
      : undefined;
  }

  return {
    /**
     * Opens a page for a call of a run; a repeated call gets the same page.
     * @returns the address without the key, as texts may have it
     */
    async open(page: Omit<NewPage, 'id'>): Promise<{ pageId: string; url: string }> {
      const pageId = await store.insertPage({ ...page, id: newUuid() });
      return { pageId, url: `${baseUrl}${MINIAPPS_PATH}/${pageId}` };
    },

    find: (token: string): Promise<ServedPage | undefined> =>
      urgently(async () => {
        const address = await addressOf(token);
        const page = address && (await store.findPage(address));
        return page && { ...page, args: pageKeys.addIn(page.customerId, page.args) };
      }),

    /** @throws Problem not_found, already_submitted */
    async submit(token: string, data: unknown): Promise<void> {
      const address = await urgently(() => addressOf(token));
      if (!address) throw new Problem('not_found');
      const recorded = await urgently(() => store.recordSubmission(address, JSON.stringify(data), ANYBODY));
      if (recorded) return tell(recorded).catch(tellLater);
      const page = await store.findPage(address);
      throw new Problem(page?.state === 'submitted' ? 'already_submitted' : 'not_found');
    },

    /** Does the same for a member who is signed in. @throws Problem not_found, already_submitted */
    async answer(customerId: string, pageId: string, data: unknown, by: Submitter, claim?: Claim): Promise<void> {
      const page = { customerId, pageId };
      const recorded = await urgently(() => store.recordSubmission(page, JSON.stringify(data), by, claim));
      if (recorded) return tell(recorded).catch(tellLater);
      throw new Problem((await store.isSubmitted(page)) ? 'already_submitted' : 'not_found');
    },

    /** This chore tells runs that a signal did not reach, and closes in the inbox what was not sent in time. */
    async tellUntold(signal: AbortSignal): Promise<void> {
      await store.closeExpired(BATCH);
      for (const untold of await store.listUntold(BATCH)) {
        if (signal.aborted) return;
        await tell(untold).catch(tellLater);
      }
    },
  };
}
