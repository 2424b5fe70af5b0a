/** What the operator's admins can do with their notes on customers. Nothing here is any tenant's own. */
import { validate as isUuid } from 'uuid';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { CrmStatus } from './model.ts';
import type { CrmFilter, CrmStore, CrmPage } from './store.ts';

export type CrmService = ReturnType<typeof createCrmService>;

export const createCrmService = ({ store }: { store: CrmStore }) => {
  /** @throws Problem not_found */
  const get = async (customerId: string) => found(await store.find(customerId));

  return {
    get,

    async list({ limit, offset, ...filter }: CrmFilter & CrmPage) {
      const { rows, total } = await store.list(filter, { limit, offset });
      return { data: rows, meta: { total, limit, offset } };
    },

    async setStatus(caller: Caller, customerId: string, status: CrmStatus) {
      await get(customerId);
      await store.setStatus(customerId, status, caller.actor);
      return get(customerId);
    },

    async notes(customerId: string, { limit, offset }: CrmPage) {
      const { note_count: total } = await get(customerId);
      return { data: await store.notes(customerId, { limit, offset }), meta: { total, limit, offset } };
    },

    async createNote(caller: Caller, customerId: string, text: string) {
      await get(customerId);
      return store.insertNote(customerId, text, caller.actor);
    },

    async deleteNote(customerId: string, noteId: string): Promise<void> {
      if (!isUuid(noteId) || !(await store.deleteNote(customerId, noteId))) throw new Problem('not_found');
    },
  };
};
