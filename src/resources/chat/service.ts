/**
 * What a caller can do with conversations. They belong to the workspace: whoever is in it can read and continue them.
 */
import { validate as isUuid } from 'uuid';
import { newUuid } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller, ReceiveFiles } from '../../platform/http/endpoint.ts';
import { sideBySide } from '../../platform/temporal/side-by-side.ts';
import type { AttachmentService } from '../attachments/service.ts';
import type { RunService } from '../runs/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { MessagePage, NewMessage, NewThread, ThreadChange } from './contract.ts';
import { promptOf, titleFrom } from './model.ts';
import type { ChatStore, ThreadRow } from './store.ts';
import { turnCredentials, type TurnSettings } from './turn.ts';

export type ChatService = ReturnType<typeof createChatService>;

export interface ChatServiceDependencies {
  store: ChatStore;
  workspaces: Pick<WorkspaceStore, 'whileOpen'>;
  runs: Pick<RunService, 'create' | 'cancel'>;
  attachments: Pick<AttachmentService, 'listOfThread' | 'uploadToThread' | 'deleteOfThread'>;
  agentExists: (customerId: string, slug: string) => Promise<boolean>;
  settings: TurnSettings;
  log: Log;
}

export const createChatService = (deps: ChatServiceDependencies) => {
  const { store, workspaces, runs, attachments, agentExists, settings, log } = deps;

  /** Runs and files refer to the id of the row, not to the caller's spelling of it. */
  const find = async ({ customerId }: Caller, id: string): Promise<ThreadRow> =>
    found(isUuid(id) ? await store.find(customerId, id) : undefined);

  /** @throws Problem not_found */
  async function checkAgent({ customerId }: Caller, agent: string | null | undefined): Promise<void> {
    if (agent != null && !(await agentExists(customerId, agent))) {
      throw new Problem('not_found', `unknown agent: ${agent}`);
    }
  }

  return {
    async list({ customerId }: Caller, { limit, offset }: { limit: number; offset: number }) {
      const { rows, total } = await store.list(customerId, { limit, offset });
      return { data: rows.map(wire), meta: { limit, offset, total } };
    },

    get: async (caller: Caller, id: string) => wire(await find(caller, id)),

    /** @throws Problem not_found for an unknown agent, workspace_archived */
    async create(caller: Caller, { title = null, agent = null }: NewThread) {
      await checkAgent(caller, agent);
      const { customerId, actor: createdBy } = caller;
      const row = { id: newUuid(), customerId, title, agentSlug: agent, createdBy };
      return wire(await workspaces.whileOpen(customerId, () => store.insert(row)));
    },

    /** @throws Problem bad_request, not_found */
    async update(caller: Caller, id: string, { title, agent }: ThreadChange) {
      const thread = await find(caller, id);
      if (title === undefined && agent === undefined) throw new Problem('bad_request', 'provide title or agent');
      await checkAgent(caller, agent);
      const change = { ...(title !== undefined && { title }), ...(agent !== undefined && { agentSlug: agent }) };
      return wire(found(await store.change(caller.customerId, thread.id, change)));
    },

    /** @throws Problem not_found */
    async remove(caller: Caller, id: string): Promise<void> {
      const { customerId } = caller;
      const thread = await find(caller, id);
      // The thread goes first, so that nothing more is said in it.
      found((await store.delete(customerId, thread.id)) || undefined);
      await attachments.deleteOfThread(customerId, thread.id);
      // A run may have ended meanwhile. One that cannot be reached goes on to its end, and nobody reads it.
      const cancel = (runId: string) =>
        runs.cancel(caller, runId).catch((err: unknown) => {
          if (!(err instanceof Problem)) throw err;
          log.info({ run_id: runId, problem: err.code }, 'a run of a deleted thread was not cancelled');
        });
      await sideBySide(await store.listInFlight(customerId, thread.id), cancel);
    },

    /** @throws Problem not_found */
    async listMessages(caller: Caller, id: string, page: MessagePage) {
      const thread = await find(caller, id);
      const { data, total } = await store.listMessages(caller.customerId, thread.id, page);
      return { data, meta: { limit: page.limit, offset: page.offset, total } };
    },

    /** @throws Problem not_found, also for a file of another thread; plan_limit_exceeded and what else a run may meet */
    async send(caller: Caller, id: string, { content, attachment_ids: ids, agent }: NewMessage) {
      const { customerId } = caller;
      const thread = await find(caller, id);
      const beside = ids.length === 0 ? [] : (await attachments.listOfThread(customerId, thread.id)).data;
      const files = [...new Set(ids)].map((wanted) => found(beside.find((file) => file.id === wanted)));
      const { run_id, status } = await runs.create(caller, {
        agent: agent ?? thread.agentSlug,
        transport: 'rest',
        prompt: promptOf(content, files),
        thread_id: thread.id,
      });
      await store.touch(customerId, thread.id, titleFrom(content));
      return { message_id: `${run_id}:user`, run_id, status };
    },

    async listAttachments(caller: Caller, id: string) {
      const thread = await find(caller, id);
      return attachments.listOfThread(caller.customerId, thread.id);
    },

    async uploadAttachments(caller: Caller, id: string, receiveFiles: ReceiveFiles) {
      const thread = await find(caller, id);
      return attachments.uploadToThread(caller.customerId, thread.id, receiveFiles);
    },

    /** @throws Problem not_found without TURN servers */
    turn: async ({ actor }: Caller) => found(turnCredentials(settings, actor)),
  };
};

const wire = ({ id, title, agentSlug, createdBy, createdAt, updatedAt }: ThreadRow) => ({
  id,
  title,
  agent: agentSlug,
  created_by: createdBy,
  created_at: createdAt,
  updated_at: updatedAt,
});
