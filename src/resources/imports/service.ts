/**
 * What a caller can do with imports. An archive comes in parts, so that an upload that broke off goes on; a workflow looks
 * through it and brings what it has. Where the start of that is lost, housekeeping repeats it.
 */
import { IMPORT_WORKSPACE } from '../../../workflows/import/messages.ts';
import type { importWorkspace } from '../../../workflows/import/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import type { Log } from '../../platform/core/log.ts';
import { isOneOf } from '../../platform/core/one-of.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { FileStore } from '../../platform/files/files.ts';
import { partKey } from '../../platform/files/parts.ts';
import type { Caller, Confirmation, UploadedFile } from '../../platform/http/endpoint.ts';
import { ownCustomer } from '../../platform/http/own-workspace.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createLostStarts, START_AGAIN_MS, startOnce } from '../../platform/temporal/starting.ts';
import { queueName } from '../../platform/temporal/task-queues.ts';
import { PART_BYTES } from '../exports/model.ts';
import type { OtpService } from '../otp/service.ts';
import { NOT_BROUGHT } from './bring/tables.ts';
import type { ImportReply, NewImport } from './contract.ts';
import { IMPORT_FAILURES, importFolder, importWorkflowId, type ImportRef } from './model.ts';
import type { ImportRow, ImportStore } from './store.ts';

export type ImportService = ReturnType<typeof createImportService>;

export interface ImportServiceDependencies {
  temporal: Temporal;
  store: ImportStore;
  files: Pick<FileStore, 'put' | 'deleteAll'>;
  otp: Pick<OtpService, 'gate'>;
  settings: Pick<Config, 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
  log: Log;
}

interface Path {
  identity_workspace_id: string;
  import_id: string;
}

const ENDED: readonly ImportRow['status'][] = ['done', 'failed', 'removed'];

const partsOf = (sizeBytes: number): number => Math.ceil(sizeBytes / PART_BYTES);

export const createImportService = ({ temporal, store, files, otp, settings, log }: ImportServiceDependencies) => {
  /** @returns false when its workflow has ended already */
  const begin = (ref: ImportRef, workspaceId: string): Promise<boolean> =>
    startOnce(() =>
      withinDeadline(temporal, () =>
        temporal.client.workflow.start<typeof importWorkspace>(IMPORT_WORKSPACE, {
          workflowId: settings.TASK_QUEUE_PREFIX + importWorkflowId(ref),
          taskQueue: queueName(settings, 'orchestration'),
          args: [ref],
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          typedSearchAttributes: searchAttributes({ workspaceId }),
          staticSummary: `an archive into ${workspaceId}`,
          priority: priorityOf(ref.customerId),
        }),
      ),
    );

  const refOf = (caller: Caller, { identity_workspace_id: id, import_id: importId }: Path): ImportRef => ({
    customerId: ownCustomer(caller, id),
    importId,
  });

  return {
    /** @throws Problem not_found, import_under_way, otp_required */
    async create(caller: Caller, workspaceId: string, { size_bytes, sha256 }: NewImport, confirmation: Confirmation) {
      const customerId = ownCustomer(caller, workspaceId);
      if (await store.isUnderWay(customerId)) throw new Problem('import_under_way');
      const archive = { sizeBytes: size_bytes, sha256 };
      const row = await otp.gate(caller, confirmation, `workspaces.import:${workspaceId}`, () =>
        store.insert(customerId, caller.actor, archive),
      );
      return wire(row);
    },

    async list(caller: Caller, workspaceId: string) {
      const rows = await store.list(ownCustomer(caller, workspaceId));
      return { data: rows.map(wire), meta: { total: rows.length } };
    },

    /** @throws Problem not_found */
    get: async (caller: Caller, path: Path) => wire(await store.find(refOf(caller, path))),

    /** @throws Problem not_found, import_not_open, invalid_upload */
    async sendPart(caller: Caller, { part, ...path }: Path & { part: number }, file: UploadedFile | undefined) {
      const ref = refOf(caller, path);
      const { status, parts, sizeBytes } = await store.find(ref);
      if (status !== 'uploading') throw new Problem('import_not_open', `import_not_open: it is ${status}`);
      if (!file) throw new Problem('invalid_upload', 'no file in the field file');
      // It is there: the answer to it was lost.
      if (part < parts) return;
      const expected = Math.min(PART_BYTES, sizeBytes - part * PART_BYTES);
      if (part > parts || expected <= 0)
        throw new Problem('invalid_upload', `the next part is ${parts} of ${partsOf(sizeBytes)}`);
      if (file.bytes.length !== expected) {
        throw new Problem('invalid_upload', `part ${part} has ${expected} bytes, and ${file.bytes.length} came`);
      }
      await files.put(partKey(importFolder(ref), part), file.bytes, 'application/octet-stream');
      if (await store.recordPart(ref, part)) return;
      // It was sent twice at once; or the import has ended meanwhile, and with it what had come of its archive.
      const { status: now } = await store.find(ref);
      if (now === 'uploading') return;
      if (ENDED.includes(now)) await files.deleteAll(importFolder(ref));
      throw new Problem('import_not_open', `import_not_open: it is ${now}`);
    },

    /** @throws Problem not_found, import_not_open */
    async start(caller: Caller, path: Path) {
      const ref = refOf(caller, path);
      const { status, parts, sizeBytes } = await store.find(ref);
      if (status !== 'uploading') throw new Problem('import_not_open', `import_not_open: it is ${status}`);
      if (parts < partsOf(sizeBytes)) {
        throw new Problem('import_not_open', `import_not_open: ${parts} of ${partsOf(sizeBytes)} parts are there`);
      }
      await store.queue(ref);
      await begin(ref, caller.workspaceId).catch((err: unknown) =>
        log.warn({ err, import_id: ref.importId }, 'an import could not be started; housekeeping will start it'),
      );
      return wire(await store.find(ref));
    },

    /** What is under way finds that it is not wanted any more. @throws Problem not_found */
    async remove(caller: Caller, path: Path) {
      const ref = refOf(caller, path);
      await store.find(ref);
      await store.remove(ref);
      await files.deleteAll(importFolder(ref));
      return wire(await store.find(ref));
    },

    /** This chore starts imports whose start was lost, ends those that have lost their workflow, and gives up uploads. */
    startLost: createLostStarts({
      take: (turn) => store.takeDue(turn, START_AGAIN_MS),
      load: store.loadMany,
      async start({ id: importId, customerId, workspaceId, isUploading }) {
        const ref = { customerId, importId };
        if (isUploading) {
          await store.remove(ref);
          await files.deleteAll(importFolder(ref));
        } else if (!(await begin(ref, workspaceId))) {
          await store.recordFailed(ref, 'import_lost', 'its workflow ended without a result');
        }
      },
      noteStarted: (started) => store.noteStarted(started.map(({ id }) => id)),
      what: 'import',
      log,
    }),
  };
};

function wire(row: ImportRow): ImportReply {
  const { phase, entries, errorCode } = row;
  return {
    id: row.id,
    status: row.status,
    requested_by: row.requestedBy,
    size_bytes: row.sizeBytes,
    sha256: row.sha256,
    part_bytes: PART_BYTES,
    parts: row.parts,
    of_parts: partsOf(row.sizeBytes),
    progress: phase && { phase, percent: entries ? Math.min(100, Math.round((100 * row.position) / entries)) : 0 },
    source: row.source,
    as_of: row.asOf,
    new_ids: row.areIdsTaken,
    result: row.result,
    not_brought: NOT_BROUGHT,
    error_code: isOneOf(IMPORT_FAILURES, errorCode) ? errorCode : null,
    error_message: row.errorMessage,
    created_at: row.createdAt,
    completed_at: row.completedAt,
  };
}
