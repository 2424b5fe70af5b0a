/**
 * Housekeeping of schedules: it compares the schedules of each workspace with its rows, because a crash between the two
 * writes, or a hand in the Temporal Web UI, leaves them apart. Workspaces are looked at in turn, the one that waited
 * longest first, for a bounded time at each tick, so that a round over all of them takes as many ticks as it needs.
 */
import { sql } from 'drizzle-orm';
import type { Log } from '../../platform/core/log.ts';
import type { Database } from '../../platform/db/client.ts';
import { reconcile, type Reconciled } from '../../platform/temporal/reconcile.ts';

/** How many workspaces take their turn together: a crash in between costs these their turn. */
const BATCH = 10;
/** The share of the time between two ticks that is spent on looking, however many schedules there are. */
const SHARE = 0.1;
export interface FollowingDependencies extends Pick<Reconciled, 'triggers' | 'followed'> {
  db: Database;
  log: Log;
  /** The time between two ticks, in milliseconds. */
  intervalMs: number;
}

export const createFollowing = ({ db, log, triggers, followed, intervalMs }: FollowingDependencies) => {
  /** A workspace is left alone until the next tick. */
  const restS = intervalMs / 2 / 1_000;

  /** Notes the look before it is made, so that a workspace at which every look fails waits for its turn like the others. */
  const takeTurn = () =>
    db.rows<{ customerId: string; workspaceId: string }>(sql`
      update workspaces set schedules_checked_at = now() where customer_id in (
        select customer_id from workspaces where schedules_checked_at < now() - make_interval(secs => ${restS})
        order by schedules_checked_at limit ${BATCH} for update skip locked)
      returning customer_id as "customerId", identity_workspace_id as "workspaceId"`);

  /** @throws AggregateError of the workspaces whose schedules could not be listed or changed, after all others */
  return async function followRows(signal: AbortSignal): Promise<void> {
    const until = performance.now() + intervalMs * SHARE;
    const failures: unknown[] = [];
    while (!signal.aborted && performance.now() < until) {
      const turn = await takeTurn();
      for (const workspace of turn) {
        try {
          const { applied, removed } = await reconcile({ triggers, followed, ...workspace }, signal);
          if (applied + removed > 0)
            log.warn({ customer_id: workspace.customerId, applied, removed }, 'schedules had drifted from their rows');
        } catch (error) {
          failures.push(error);
        }
      }
      if (turn.length < BATCH) break;
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not all schedules follow their rows');
  };
};
