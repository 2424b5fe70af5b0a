/** One attempt to deliver, made while it holds one of the places that its host has. */
import { Context } from '@temporalio/activity';
import type { Later, Patience } from '../src/resources/receivers/model.ts';
import type { PlaceStore } from '../src/resources/receivers/store.ts';

export interface Attempt extends Patience {
  /** None: nothing is sent over the network, or to nobody but our own mail server. */
  host: string | undefined;
  customerId: string;
  deliveryId: string;
  timeoutMs: number;
}

/** Reading, signing and recording, beside what the receiver takes. */
const MARGIN_MS = 10_000;

/** @returns when to come again where there is no place */
export async function inItsPlace(
  places: PlaceStore,
  { host, customerId, deliveryId: holder, timeoutMs, mayWait }: Attempt,
  attempt: () => Promise<void>,
): Promise<Later | undefined> {
  if (host === undefined || !mayWait) return void (await attempt());
  const waitMs = await places.take({ host, customerId, holder, forMs: timeoutMs + MARGIN_MS });
  if (waitMs !== undefined) return { waitMs, made: Context.current().info.attempt - 1 };
  const startedAt = performance.now();
  try {
    await attempt();
  } finally {
    // What is not given back is free again when its time is over.
    await places.giveBack({ host, holder }, performance.now() - startedAt).catch(() => {});
  }
  return undefined;
}
