/**
 * What a caller can do with archives of the workspace. An export is accepted by its row, and a workflow makes the archive;
 * where the start of that is lost, housekeeping repeats it.
 */
import { EXPORT_WORKSPACE } from '../../../workflows/export/messages.ts';
import type { exportWorkspace } from '../../../workflows/export/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import type { Log } from '../../platform/core/log.ts';
import { isOneOf } from '../../platform/core/one-of.ts';
import { present } from '../../platform/core/present.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Caller, Confirmation, RangedReply } from '../../platform/http/endpoint.ts';
import { ownCustomer } from '../../platform/http/own-workspace.ts';
import type { FileStore } from '../../platform/files/files.ts';
import { readParts, sizeOfParts } from '../../platform/files/parts.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createLostStarts, createStarter, START_AGAIN_MS } from '../../platform/temporal/starting.ts';
import { queueName } from '../../platform/temporal/task-queues.ts';
import { workflowState } from '../../platform/temporal/workflow-state.ts';
import type { OtpService } from '../otp/service.ts';
import { BROUGHT } from './store/contents.ts';
import type { ExportReply } from './contract.ts';
import {
  ARCHIVE_TYPE,
  archiveName,
  EXPORT_FAILURES,
  exportFolder,
  exportWorkflowId,
  PART_BYTES,
  type ExportRef,
} from './model.ts';
import type { ExportRow, ExportStore } from './store/index.ts';

export type ExportService = ReturnType<typeof createExportService>;

export interface ExportServiceDependencies {
  temporal: Temporal;
  store: ExportStore;
  files: Pick<FileStore, 'get' | 'sizeOf' | 'discardAll'>;
  otp: Pick<OtpService, 'gate'>;
  settings: Pick<Config, 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
  log: Log;
}

interface Path {
  identity_workspace_id: string;
  export_id: string;
}

/** One round takes so many away. */
const EXPIRED = 20;

export const createExportService = ({ temporal, store, files, otp, settings, log }: ExportServiceDependencies) => {
  const workflowIdOf = (ref: ExportRef): string => settings.TASK_QUEUE_PREFIX + exportWorkflowId(ref);
  const startOnce = createStarter(store.noteStarted);

  /** @returns whether its workflow started */
  async function start(ref: ExportRef, workspaceId: string): Promise<boolean> {
    return startOnce(ref.exportId, () =>
      withinDeadline(temporal, () =>
        temporal.client.workflow.start<typeof exportWorkspace>(EXPORT_WORKSPACE, {
          workflowId: workflowIdOf(ref),
          taskQueue: queueName(settings, 'orchestration'),
          args: [ref],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          typedSearchAttributes: searchAttributes({ workspaceId }),
          staticSummary: `archive of ${workspaceId}`,
          priority: priorityOf(ref.customerId),
        }),
      ),
    );
  }

  const refOf = (caller: Caller, { identity_workspace_id: id, export_id: exportId }: Path): ExportRef => ({
    customerId: ownCustomer(caller, id),
    exportId,
  });

  return {
    /** @throws Problem not_found, export_under_way, otp_required */
    async create(caller: Caller, workspaceId: string, confirmation: Confirmation) {
      const customerId = ownCustomer(caller, workspaceId);
      if (await store.isUnderWay(customerId)) throw new Problem('export_under_way');
      const row = await otp.gate(caller, confirmation, `workspaces.export:${workspaceId}`, () =>
        store.insert(customerId, caller.actor),
      );
      await start({ customerId, exportId: row.id }, workspaceId).catch((err: unknown) =>
        log.warn({ err, export_id: row.id }, 'an export could not be started; housekeeping will start it'),
      );
      return wire(row, workspaceId);
    },

    async list(caller: Caller, workspaceId: string) {
      const rows = await store.list(ownCustomer(caller, workspaceId));
      return { data: rows.map((row) => wire(row, workspaceId)), meta: { total: rows.length } };
    },

    /** @throws Problem not_found */
    async get(caller: Caller, path: Path) {
      return wire(await store.find(refOf(caller, path)), path.identity_workspace_id);
    },

    /** @throws Problem not_found, export_not_ready */
    async download(caller: Caller, path: Path): Promise<RangedReply> {
      const { status, folder, sha256, createdAt } = await store.find(refOf(caller, path));
      if (status !== 'ready') throw new Problem('export_not_ready', `export_not_ready: it is ${status}`);
      const place = { folder: present(folder, 'the folder of a ready archive'), partBytes: PART_BYTES };
      return {
        contentType: ARCHIVE_TYPE,
        filename: archiveName(path.identity_workspace_id, createdAt),
        // The row may say another size than the bytes have.
        sizeBytes: await sizeOfParts(files, place),
        tag: present(sha256, 'the digest of a ready archive'),
        open: (range) => readParts(files, place, range),
      };
    },

    /** What is under way finds that it is not wanted any more. @throws Problem not_found */
    async remove(caller: Caller, path: Path) {
      const ref = refOf(caller, path);
      await store.find(ref);
      await store.remove(ref);
      await files.discardAll(exportFolder(ref));
      return wire(await store.find(ref), path.identity_workspace_id);
    },

    /** This chore starts exports that were accepted, and ends those that have lost their workflow. */
    startLost: createLostStarts({
      take: (turn) => store.takeDue(turn, START_AGAIN_MS),
      load: store.loadMany,
      async start({ id: exportId, customerId, workspaceId }) {
        const ref = { customerId, exportId };
        const isStarted = await start(ref, workspaceId);
        const hasEnded = !isStarted && (await workflowState(temporal, workflowIdOf(ref))) !== 'running';
        if (hasEnded) await store.recordFailed(ref, 'export_lost');
        return isStarted;
      },
      what: 'export',
      log,
    }),

    /** This chore takes archives away that are past their time. */
    async removeExpired(signal: AbortSignal): Promise<void> {
      for (const ref of await store.listExpired(EXPIRED)) {
        if (signal.aborted) return;
        await files.discardAll(exportFolder(ref));
        await store.remove(ref);
      }
    },
  };
};

function wire(row: ExportRow, workspaceId: string): ExportReply {
  const { summary, phase, errorCode } = row;
  return {
    id: row.id,
    status: row.status,
    requested_by: row.requestedBy,
    progress: phase && {
      phase,
      percent: Math.round((100 * row.tablesDone) / BROUGHT.length),
      rows: row.rowsDone,
      files: row.filesDone,
    },
    size_bytes: row.sizeBytes,
    sha256: row.sha256,
    summary,
    filename: row.status === 'ready' ? archiveName(workspaceId, row.createdAt) : null,
    error_code: isOneOf(EXPORT_FAILURES, errorCode) ? errorCode : null,
    created_at: row.createdAt,
    completed_at: row.completedAt,
    expires_at: row.status === 'ready' ? row.expiresAt : null,
  };
}
