/** Makes one attempt to deliver while it holds one of the places that the receiver's host has. */
import { Context } from '@temporalio/activity';
import { UnknownKeyError, type SecretBox } from '../src/platform/core/crypto.ts';
import type { Log } from '../src/platform/core/log.ts';
import { slotWait } from '../src/platform/temporal/activity-slots.ts';
import type { Later, WaitsForSlots } from '../src/resources/receivers/model.ts';
import type { PlaceStore } from '../src/resources/receivers/store.ts';

export interface Attempt extends WaitsForSlots {
  /** Undefined where nothing is sent over the network, or only to the deployment's own mail server. */
  host: string | undefined;
  customerId: string;
  deliveryId: string;
  timeoutMs: number;
}

/** Reading, signing and recording may take this long beside the receiver. */
const MARGIN_MS = 10_000;

/** So much time lies between two looks whether the key is there again. */
const KEY_WAIT_MS = 60_000;

/**
 * A delivery that is sealed with a key which this process was not given cannot be sent, and the operator has to mend
 * that: it waits, no attempt is counted, and the log says so.
 * @returns when to come again; undefined where what is sealed can be opened, or never will be
 */
export function laterForItsKey(
  sealed: readonly string[],
  { secretBox, deliveryId, log }: { secretBox: SecretBox; deliveryId: string; log: Pick<Log, 'error'> },
): Later | undefined {
  try {
    sealed.forEach(secretBox.requireKeyOf);
  } catch (error) {
    if (!(error instanceof UnknownKeyError)) return undefined;
    log.error(
      { key: error.keyId, delivery_id: deliveryId },
      'a delivery waits for a key that SECRETS_KEY does not name: add that key',
    );
    return { waitMs: KEY_WAIT_MS, made: Context.current().info.attempt - 1 };
  }
  return undefined;
}

/** @returns when to come again, where there is no place */
export async function inItsPlace(
  places: PlaceStore,
  { host, customerId, deliveryId: holder, timeoutMs, mayWait }: Attempt,
  attempt: () => Promise<void>,
): Promise<Later | undefined> {
  const slot = mayWait ? slotWait(Context.current().info.attempt) : undefined;
  if (slot) return { waitMs: slot.slotWaitMs, made: slot.made };
  if (host === undefined || !mayWait) return void (await attempt());
  const waitMs = await places.take({ host, customerId, holder, forMs: timeoutMs + MARGIN_MS });
  if (waitMs !== undefined) return { waitMs, made: Context.current().info.attempt - 1 };
  const startedAt = performance.now();
  try {
    await attempt();
  } finally {
    // A place that is not given back becomes free when its time is over.
    await places.giveBack({ host, holder }, performance.now() - startedAt).catch(() => {});
  }
  return undefined;
}
