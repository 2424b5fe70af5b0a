/** Deletes what is older than the settings say, in small steps, each a short transaction of its own. */
import type { Config } from '../../platform/core/config.ts';
import type { Log } from '../../platform/core/log.ts';
import type { RetainedKind } from '../../platform/db/retained.ts';
import { KEPT_MS } from '../idempotency-keys/store.ts';
import { STATEMENTS, type RetentionStore } from './store.ts';

type Settings = Pick<
  Config,
  | 'RETENTION_RUN_DETAILS'
  | 'RETENTION_EVENTS'
  | 'RETENTION_DELIVERIES'
  | 'RETENTION_OTP'
  | 'RETENTION_AUDIT'
  | 'RUN_DETAIL_TTL'
>;
interface RetentionDependencies {
  store: RetentionStore;
  settings: Settings;
  log: Log;
}

/** One statement deletes so many rows; one tick makes so many statements on a table. */
const BATCH = 500;
const MAX_BATCHES = 40;

export const createRetention = ({ store, settings, log }: RetentionDependencies) => {
  const keptMs: Record<RetainedKind, number> = {
    // A transcript is kept at least as long as the details that can be asked for.
    run_details: settings.RETENTION_RUN_DETAILS && Math.max(settings.RETENTION_RUN_DETAILS, settings.RUN_DETAIL_TTL),
    events: settings.RETENTION_EVENTS,
    deliveries: settings.RETENTION_DELIVERIES,
    otp: settings.RETENTION_OTP,
    audit: settings.RETENTION_AUDIT,
    idempotency_keys: KEPT_MS,
  };
  const kinds = (Object.keys(keptMs) as RetainedKind[]).filter((kind) => keptMs[kind] > 0);

  return {
    /**
     * Sweeps once. What is left over, or was cut off by `signal`, is for the next time.
     * @returns how many rows were deleted
     */
    async sweep(signal: AbortSignal): Promise<number> {
      const deleted: Partial<Record<RetainedKind, number>> = {};
      const nowMs = (await store.now()).getTime();
      for (const kind of kinds) {
        const before = new Date(Math.max(0, nowMs - keptMs[kind]));
        for (const statement of STATEMENTS[kind]) {
          for (let batch = 0, rows = BATCH; batch < MAX_BATCHES && rows === BATCH && !signal.aborted; batch++) {
            rows = await store.delete(statement, before, BATCH);
            deleted[kind] = (deleted[kind] ?? 0) + rows;
          }
        }
      }
      const total = Object.values(deleted).reduce((sum, rows) => sum + rows, 0);
      if (total > 0) log.info(deleted, 'deleted rows that were past their retention');
      return total;
    },
  };
};
