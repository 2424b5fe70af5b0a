/** Tells the health of the deployment: every part is looked at at once, each with a limit of time. */
import type { Log } from '../../platform/core/log.ts';
import { StorageUnavailable } from '../../platform/files/storage-away.ts';
import { orAfter } from '../../platform/temporal/problems.ts';
import { overall } from './model.ts';
import { PATIENCE_MS, type ProbeResult, type Probe } from './probes.ts';

const SILENT: ProbeResult = { status: 'down', detail: `did not answer within ${PATIENCE_MS / 1_000} s` };

export function createHealth(probes: Readonly<Record<string, Probe>>, log: Log) {
  async function examine(name: string, probe: Probe) {
    const begunAt = performance.now();
    const finding = probe().catch((err: unknown): ProbeResult => {
      log.warn({ part: name, err }, 'a part of the deployment does not answer');
      return { status: 'down', detail: err instanceof StorageUnavailable ? err.said : 'does not answer' };
    });
    const { status, detail } = await orAfter(PATIENCE_MS, finding, () => SILENT);
    return { name, status, latency_ms: Math.round(performance.now() - begunAt), ...(detail && { detail }) };
  }

  async function look() {
    const parts = await Promise.all(Object.entries(probes).map(([name, probe]) => examine(name, probe)));
    return { status: overall(parts), checked_at: new Date(), parts };
  }

  let looking: ReturnType<typeof look> | undefined;
  /** Those who ask while a look is under way share its result. */
  return () => (looking ??= look().finally(() => (looking = undefined)));
}
