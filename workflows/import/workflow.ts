/**
 * Brings an archive into a workspace: looked through first, so that of one that is damaged nothing is brought; then file by
 * file, so that one that is broken off goes on.
 */
import { ApplicationFailure, CancellationScope, proxyActivities, TimeoutFailure } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { IMPORT_FAILURES, type ImportFailure } from '../../src/resources/imports/model.ts';
import { records } from '../shared/activities.ts';
import type { ImportInput } from './messages.ts';

const { checkImport, bringImport, dropImport } = proxyActivities<Activities>({
  startToCloseTimeout: '24h',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '2m', maximumAttempts: 8 },
});

export async function importWorkspace(ref: ImportInput): Promise<void> {
  try {
    await checkImport(ref);
    await bringImport(ref);
  } catch (error) {
    await CancellationScope.nonCancellable(async () => {
      await records.recordImportFailed({ ...ref, ...causeOf(error) });
      await dropImport(ref);
    });
    throw error;
  }
  await dropImport(ref);
}

function causeOf(error: unknown): { code: ImportFailure; message: string } {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TimeoutFailure) return { code: 'timed_out', message: 'it took too long' };
    if (!(cause instanceof ApplicationFailure)) continue;
    const { type, message } = cause;
    const code = IMPORT_FAILURES.find((known) => known === type);
    return code ? { code, message } : { code: 'internal_error', message: 'an unexpected error' };
  }
  return { code: 'internal_error', message: 'it was cancelled' };
}
