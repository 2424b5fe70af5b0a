/**
 * Makes one archive of a workspace. A try that is broken off begins anew, from another snapshot: half of one and half of the
 * other would be the workspace at no moment.
 */
import {
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  setCurrentDetails,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { EXPORT_FAILURES, type ExportFailure } from '../../src/resources/exports/model.ts';
import { records } from '../shared/activities.ts';
import type { ExportInput } from './messages.ts';

const { packExport, dropExport } = proxyActivities<Activities>({
  startToCloseTimeout: '12h',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '2m', maximumAttempts: 8 },
});

export async function exportWorkspace(ref: ExportInput): Promise<void> {
  try {
    setCurrentDetails('Packs the archive. Pending activities say how often, and why again.');
    await packExport(ref);
    setCurrentDetails('Ended: **ready**.');
  } catch (error) {
    const code = codeOf(error);
    setCurrentDetails(`Ended: **failed** (${code}).`);
    await CancellationScope.nonCancellable(async () => {
      await records.recordExportFailed({ ...ref, code });
      await dropExport(ref);
    });
    throw error;
  }
}

function codeOf(error: unknown): ExportFailure {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TimeoutFailure) return 'timed_out';
    if (!(cause instanceof ApplicationFailure)) continue;
    const { type } = cause;
    return EXPORT_FAILURES.find((known) => known === type) ?? 'internal_error';
  }
  return 'internal_error';
}
