/** What the operator's admins can do with their notes on customers. Nothing here is any tenant's own. */
import { validate as isUuid } from 'uuid';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { CrmStatus } from './model.ts';
import type { CrmFilter, CrmStore, Page } from './store.ts';

export type CrmService = ReturnType<typeof createCrmService>;

/** The stamp only says that somebody is an admin of a workspace. @throws Problem internal_only */
function requireOperator({ isInternal }: Caller): void {
  if (!isInternal) throw new Problem('internal_only');
}

export const createCrmService = ({ store }: { store: CrmStore }) => {
  /** @throws Problem internal_only, not_found */
  async function get(caller: Caller, customerId: string) {
    requireOperator(caller);
    return found(await store.find(customerId));
  }

  return {
    get,

    async list(caller: Caller, { limit, offset, ...filter }: CrmFilter & Page) {
      requireOperator(caller);
      const { rows, total } = await store.list(filter, { limit, offset });
      return { data: rows, meta: { total, limit, offset } };
    },

    async setStatus(caller: Caller, customerId: string, status: CrmStatus) {
      await get(caller, customerId);
      await store.setStatus(customerId, status, caller.actor);
      return get(caller, customerId);
    },

    async notes(caller: Caller, customerId: string, { limit, offset }: Page) {
      const { note_count: total } = await get(caller, customerId);
      return { data: await store.notes(customerId, { limit, offset }), meta: { total, limit, offset } };
    },

    async createNote(caller: Caller, customerId: string, text: string) {
      await get(caller, customerId);
      return store.insertNote(customerId, text, caller.actor);
    },

    async deleteNote(caller: Caller, customerId: string, noteId: string): Promise<void> {
      requireOperator(caller);
      if (!isUuid(noteId) || !(await store.deleteNote(customerId, noteId))) throw new Problem('not_found');
    },
  };
};
