/** Brings the schedules of a workspace in line with its rows. */
import { once } from 'node:events';
import type { FollowedRows, KnownTrigger, WorkflowTriggers } from './triggers.ts';

export interface Reconciled {
  triggers: WorkflowTriggers;
  followed: readonly FollowedRows[];
  customerId: string;
  workspaceId: string;
}

/**
 * Makes what is missing, changes what differs, removes what nobody wants. Rows are read after the list, so that
 * the schedule of one that has just been made is never taken for a stray. What there is no time for still differs the
 * next time; others come first then, so that those which fail keep nobody waiting.
 * @throws AggregateError of those that failed, after all others
 */
export async function reconcile(
  { triggers, followed, customerId, workspaceId }: Reconciled,
  signal: AbortSignal,
): Promise<{ applied: number; removed: number }> {
  const known = await inTime(signal, knownBy(triggers, workspaceId, signal)).catch((error: unknown) => {
    // Schedules that were not seen would be taken for missing.
    throw signal.aborted ? new Error('the schedules could not be listed in time', { cause: error }) : error;
  });
  const rows = (await Promise.all(followed.map(({ wanted }) => wanted(customerId)))).flat();
  const stale = rows.filter(({ scheduleId, revision, enabled }) => {
    const there = known.get(scheduleId);
    return !there || there.revision !== revision || there.paused === enabled;
  });
  const ids = new Set(rows.map(({ scheduleId }) => scheduleId));
  const isFollowed = (id: string) => followed.some(({ prefix }) => id.startsWith(prefix));
  const strays = [...known.keys()].filter((id) => isFollowed(id) && !ids.has(id));
  const failures: unknown[] = [];
  async function each<T>(all: readonly T[], change: (one: T) => Promise<void>): Promise<number> {
    let done = 0;
    for (const one of shuffled(all)) {
      if (signal.aborted) break;
      await inTime(signal, change(one)).then(
        () => done++,
        (error: unknown) => signal.aborted || failures.push(error),
      );
    }
    return done;
  }
  const applied = await each(stale, (trigger) => triggers.apply(trigger));
  const removed = await each(strays, (id) => triggers.remove(id));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} schedules could not be changed`);
  return { applied, removed };
}

/** @returns the triggers by their ids */
async function knownBy(
  triggers: WorkflowTriggers,
  workspaceId: string,
  signal: AbortSignal,
): Promise<Map<string, KnownTrigger>> {
  const known = new Map<string, KnownTrigger>();
  for await (const each of triggers.list(workspaceId)) {
    signal.throwIfAborted();
    known.set(each.scheduleId, each);
  }
  return known;
}

/** Waits for a call of Temporal while there is time. It goes on by itself, which does no harm: no call here depends on another. */
async function inTime<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  const waited = new AbortController();
  const over = once(signal, 'abort', { signal: waited.signal }).then(() => {
    throw signal.reason;
  });
  return Promise.race([call, over]).finally(() => {
    over.catch(() => {});
    waited.abort();
  });
}

const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
