/** One attempt to deliver, made while it holds one of the places that its host has. */
import { Context } from '@temporalio/activity';
import { UnknownKeyError, type SecretBox } from '../src/platform/core/crypto.ts';
import type { Log } from '../src/platform/core/log.ts';
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

/** Between two looks whether the key is there again. */
const KEY_WAIT_MS = 60_000;

/**
 * What is sealed with a key that this process was not given cannot be sent, and that is ours to mend: it waits, no attempt is
 * counted, and whoever reads the log is told.
 * @returns when to come again; undefined: what is sealed can be opened, or will never be
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
      'a delivery waits for a key that SECRETS_KEY does not name',
    );
    return { waitMs: KEY_WAIT_MS, made: Context.current().info.attempt - 1 };
  }
  return undefined;
}

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
