/** Tells the owners of a workspace, and the output destinations that are to hear of it, what became of its spending: a chore. */
import type { Log } from '../../../platform/core/log.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { SpendingMessage } from '../../output-destinations/send/spending.ts';
import { capName } from '../caps/model.ts';
import { SPENDING_EVENTS, SURGE_LOOK_MS } from './model.ts';
import type { SpendingNotice, SpendingNoticeStore } from './store.ts';

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

function messageOf({ id, topic, capId, threshold, spentUsd, limitUsd, runId }: SpendingNotice): SpendingMessage {
  const isSurge = topic === 'surge';
  const sums = { spent_usd: spentUsd, limit_usd: isSurge ? null : limitUsd, ...(isSurge && { usual_usd: limitUsd }) };
  const about = {
    deliveryId: id,
    event: SPENDING_EVENTS[topic],
    data: { cap_id: capId, threshold, ...sums, run_id: runId },
  };
  if (isSurge) {
    return {
      ...about,
      heading: `An hour cost ${cents(spentUsd)} USD, where ${cents(limitUsd)} is usual`,
      text: `Most of it cost run ${runId}. Look: \`aos costs --window 24h\`. What stops it: \`aos costs cap workspace.day <usd>\`, or cancel what runs.`,
    };
  }
  if (topic === 'unpriced' || capId === null) {
    return {
      ...about,
      heading: 'Something is spent that is not counted',
      text: `A call of run ${runId} had no known price. What it cost is in no sum, and no cap stops it. Say what the model costs: \`aos doctor\` tells where; 0 is a price.`,
    };
  }
  const isOver = threshold !== null && threshold >= 100;
  return {
    ...about,
    heading: `${threshold}% of ${capName(capId)} is spent: ${spentUsd} of ${limitUsd} USD`,
    text: isOver
      ? `What would cost more is refused. Raise it with \`aos costs cap ${capId} <usd>\`, or PUT /v1/cost/caps/${capId}.`
      : `At 100% what would cost more is refused. Look: \`aos costs caps\`; what the month may come to: \`aos costs forecast\`.`,
  };
}

const cents = (usd: string | null): string => Number(usd).toFixed(2);
