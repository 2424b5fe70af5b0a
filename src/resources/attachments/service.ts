/** What a caller can do with reference files. */
import { validate as isUuid } from 'uuid';
import { newUuid } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import { inTurn } from '../../platform/documents/in-turn.ts';
import { lookAtDocument } from '../../platform/documents/documents.ts';
import type { Reading } from '../../platform/documents/model.ts';
import type { FileStore } from '../../platform/files/files.ts';
import { isStorageAway } from '../../platform/files/storage-away.ts';
import type { FileReply, ReceivedFile, ReceiveFiles } from '../../platform/http/endpoint.ts';
import { isActiveType } from '../../platform/http/uploads.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import { attachmentName, type AttachmentOwner } from './model.ts';
import type { Attachment, AttachmentStore, NewAttachment } from './store.ts';

export type AttachmentService = ReturnType<typeof createAttachmentService>;

interface Dependencies {
  store: AttachmentStore;
  files: FileStore;
  workspaces: Pick<WorkspaceStore, 'whileOpen'>;
  log: Log;
}

/** An upload waits so long to be told what its files are read as, all together. */
const LOOK_MS = 20_000;

export const createAttachmentService = ({ store, files, workspaces, log }: Dependencies) => {
  /** @returns null where nobody could look; an upload does not fail by that */
  async function look(
    { key, filename }: ReceivedFile,
    { signal, giveUp }: { signal: AbortSignal; giveUp: () => void },
  ): Promise<Reading | null> {
    try {
      const look = async () => lookAtDocument({ bytes: await files.get(key), filename }, { signal });
      return await inTurn(look, signal);
    } catch (err) {
      log.warn({ err }, 'an upload was kept, and not looked at');
      // The other files of the request would wait for the storage one after the other.
      if (isStorageAway(err)) giveUp();
      return null;
    }
  }

  /** @param insert resolves to false where what the files were to lie beside is gone */
  async function receive(
    customerId: string,
    owner: AttachmentOwner,
    receiveFiles: ReceiveFiles,
    insert: (rows: NewAttachment[]) => Promise<boolean>,
    gone: () => Problem,
  ) {
    const to = { files, newKey: () => `attachments/${customerId}/${newUuid()}` };
    const ids = await receiveFiles(to, async (received) => {
      const away = new AbortController();
      const signal = AbortSignal.any([AbortSignal.timeout(LOOK_MS), away.signal]);
      const rows: NewAttachment[] = [];
      for (const file of received) {
        const { key, filename, ...about } = file;
        const reading = await look(file, { signal, giveUp: () => away.abort() });
        rows.push({ ...about, id: newUuid(), filename: attachmentName(filename), fileKey: key, reading });
      }
      // The owner may have gone while the bytes came, or the workspace may have begun to end, with all its files.
      if (!(await workspaces.whileOpen(customerId, () => insert(rows)))) throw gone();
      return rows.map(({ id }) => id);
    });
    const all = await store.list(customerId, owner);
    return listed(all.filter(({ id }) => ids.includes(id)));
  }

  /** Deletes the rows and the bytes. */
  async function deleteAll(customerId: string, owner: AttachmentOwner): Promise<void> {
    const keys = await store.deleteAll(customerId, owner);
    await Promise.all(keys.map((key) => files.discard(key)));
  }

  return {
    /** @throws Problem not_found */
    async list(customerId: string, projectId: string) {
      found(await store.findProject(customerId, projectId));
      return listed(await store.list(customerId, { kind: 'project', id: projectId }));
    },

    /** @throws Problem not_found, project_ended, invalid_upload, payload_too_large */
    async upload(customerId: string, projectId: string, receiveFiles: ReceiveFiles) {
      const project = found(await store.findProject(customerId, projectId));
      if (project.status === 'abandoned') throw projectEnded();
      const insert = (rows: NewAttachment[]) => store.insertOfProject(customerId, projectId, rows);
      return receive(customerId, { kind: 'project', id: projectId }, receiveFiles, insert, projectEnded);
    },

    /**
     * Keeps files for a project that is not there yet. Those that no project took in time go first.
     * @throws Problem invalid_upload, payload_too_large
     */
    async prepare(customerId: string, receiveFiles: ReceiveFiles) {
      const owner: AttachmentOwner = { kind: 'upload', id: newUuid() };
      const insert = (rows: NewAttachment[]) => store.insertUpload(customerId, owner.id, rows);
      const made = await receive(customerId, owner, receiveFiles, insert, () => new Problem('not_found'));
      const keys = await store.deleteUntaken(customerId);
      await Promise.all(keys.map((key) => files.discard(key)));
      return made;
    },

    /** Lists the files of a scheduled job that is known to exist. */
    listOfJob: async (customerId: string, n: number) => listed(await store.list(customerId, jobOwner(n))),

    /** @throws Problem not_found, invalid_upload, payload_too_large */
    uploadToJob: (customerId: string, n: number, receiveFiles: ReceiveFiles) =>
      receive(
        customerId,
        jobOwner(n),
        receiveFiles,
        (rows) => store.insertOfJob(customerId, n, rows),
        () => new Problem('not_found'),
      ),

    deleteOfJob: (customerId: string, n: number): Promise<void> => deleteAll(customerId, jobOwner(n)),

    /** Lists the files of a chat thread that is known to exist. */
    listOfThread: async (customerId: string, id: string) => listed(await store.list(customerId, threadOwner(id))),

    /** @throws Problem not_found, invalid_upload, payload_too_large */
    uploadToThread: (customerId: string, id: string, receiveFiles: ReceiveFiles) =>
      receive(
        customerId,
        threadOwner(id),
        receiveFiles,
        (rows) => store.insertOfThread(customerId, id, rows),
        () => new Problem('not_found'),
      ),

    deleteOfThread: (customerId: string, id: string): Promise<void> => deleteAll(customerId, threadOwner(id)),

    /** @throws Problem not_found */
    async download(customerId: string, id: string): Promise<FileReply> {
      const file = found(isUuid(id) ? await store.findFile(customerId, id) : undefined);
      return {
        // Agents save pages and drawings too. They are for saving and opening, and must not run on this origin.
        contentType: isActiveType(file.contentType) ? 'text/plain' : file.contentType,
        body: await files.getStream(file.fileKey),
        // The row may say another size than the bytes have.
        sizeBytes: await files.sizeOf(file.fileKey),
        filename: file.filename,
      };
    },
  };
};

const threadOwner = (id: string): AttachmentOwner => ({ kind: 'chat_thread', id });
const jobOwner = (n: number): AttachmentOwner => ({ kind: 'scheduled_job', id: String(n) });

const projectEnded = () => new Problem('project_ended', 'the project has been abandoned');

const listed = (rows: readonly Attachment[]) => ({ data: rows.map(wire), meta: { total: rows.length } });

const wire = ({ id, filename, contentType, sizeBytes, sha256, reading, createdAt }: Attachment) => ({
  id,
  filename,
  content_type: contentType,
  size_bytes: sizeBytes,
  sha256,
  reading,
  created_at: createdAt,
});
