/** The end of a proof of the embedded service, whose database only it can read while it runs. */
import { setTimeout as wait } from 'node:timers/promises';
import type { EmbeddedService } from './embedded-service.ts';
import { openRows, openWorkflows, summaryOf, violationsOf } from './invariants.ts';
import { HELD } from './money.ts';
import type { Sink } from './sink.ts';
import type { Workload } from './workload.ts';

/** Each stop interrupts what is under way, and an interrupted model call has only so many attempts. */
const LEAST_WORK_MS = 20_000;
const MOST_WORK_MS = 150_000;

/**
 * Lets people answer what waits until no workflow runs; then stops the service and reads the record. If something is
 * still open, the service goes on.
 */
export async function untilSettled(
  service: Pick<EmbeddedService, 'whileStopped'>,
  workload: Workload,
  sink: Sink,
  say: (text: string) => void,
  recoveryMs: number,
) {
  const { customerId, person, temporal } = workload;
  for (const deadline = Date.now() + recoveryMs; ;) {
    const from = Date.now();
    let workflows: string[] = [];
    const mayStop = () => Date.now() - from > (workflows.length > 0 ? MOST_WORK_MS : LEAST_WORK_MS);
    for (; !mayStop(); await wait(1_000)) {
      await person.look();
      workflows = await openWorkflows(temporal);
    }
    const isLate = Date.now() > deadline;
    const seen = await service.whileStopped(async (db) => {
      const open = await openRows(db, customerId);
      const held = await db.rows<{ what: string }>(HELD(customerId));
      // Only then, as the list is long before.
      if (open.length === 0) open.push(...workflows);
      const left = [...open, ...held.map(({ what }) => what)];
      if (left.length > 0 && !isLate) return left;
      const options = { db, workload, sink };
      const late = open.map((what) => `${what} ${recoveryMs / 1_000} s after the troubles`);
      return { did: await summaryOf(options), found: [...late, ...(await violationsOf(options))] };
    });
    if (!Array.isArray(seen)) return seen;
    say(`${seen.length} still open, such as: ${seen[0]}`);
  }
}
