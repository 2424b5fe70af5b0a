/** Tells the owners of a workspace, and the output destinations that are to hear of it, what became of its spending: a chore. */
import type { Log } from '../../../platform/core/log.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { SpendingMessage } from '../../output-destinations/send/spending.ts';
import { SURGE_LOOK_MS } from './model.ts';
import type { SpendingNoticeStore } from './store.ts';
import { messageOf } from './words.ts';

interface Destination {
  id: string;
  send: (message: SpendingMessage) => Promise<unknown>;
}

export interface SpendingTellerDependencies {
  store: SpendingNoticeStore;
  /** @returns mail addresses */
  ownersOf: (customerId: string) => Promise<string[]>;
  /** @returns the destinations of the workspace that hear of spending */
  destinationsOf: (customerId: string) => Promise<Destination[]>;
  mailer: Pick<Mailer, 'send'>;
  log: Log;
}

const BATCH = 50;

/** Looks for hours that cost too much, but not at each tick. */
export const createSurgeWatch = ({ noteSurges }: Pick<SpendingNoticeStore, 'noteSurges'>) => {
  let lookedAt = -Infinity;
  return async (): Promise<void> => {
    if (performance.now() - lookedAt < SURGE_LOOK_MS) return;
    lookedAt = performance.now();
    await noteSurges();
  };
};

/** Who was told, and whose telling was not recorded, is told once more, under the same id. */
export const createSpendingTeller =
  ({ store, ownersOf, destinationsOf, mailer, log }: SpendingTellerDependencies) =>
  async (signal: AbortSignal): Promise<void> => {
    for (const notice of await store.takeDue(BATCH)) {
      if (signal.aborted) return;
      const message = messageOf(notice);
      const { customerId, toldTo } = notice;
      const owners = await ownersOf(customerId);
      const tellOwners = ({ heading, text, deliveryId }: SpendingMessage) =>
        mailer.send({
          to: owners,
          subject: heading,
          text: `${heading}\n\n${text}`,
          messageId: `<${deliveryId}@spending>`,
        });
      const receivers = [
        ...(owners.length > 0 ? [{ id: 'owners', send: tellOwners }] : []),
        ...(await destinationsOf(customerId)),
      ].filter(({ id }) => !toldTo.includes(id));
      let areAll = true;
      for (const { id, send } of receivers) {
        await send(message).then(
          () => store.recordTold(notice, id),
          (err: unknown) => {
            areAll = false;
            log.warn({ err, customer_id: customerId, receiver: id }, 'a receiver could not be told of spending');
          },
        );
      }
      await store.finish(notice, areAll);
    }
  };
