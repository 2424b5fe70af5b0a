/** What people read of spending. */
import type { SpendingMessage } from '../../output-destinations/send/spending.ts';
import { capName } from '../caps/model.ts';
import { SPENDING_EVENTS } from './model.ts';
import type { SpendingNotice, SpendingNoticeStore, StandingNotice } from './store.ts';

const cents = (usd: string | null): string => Number(usd).toFixed(2);

/** @returns it in a line */
function headingOf({ topic, capId, threshold, spentUsd, limitUsd }: Omit<StandingNotice, 'at' | 'runId'>): string {
  if (topic === 'surge') return `An hour cost ${cents(spentUsd)} USD, where ${cents(limitUsd)} is usual`;
  if (topic === 'unpriced' || capId === null) return 'Something is spent that is not counted';
  return `${threshold}% of ${capName(capId)} is spent: ${spentUsd} of ${limitUsd} USD`;
}

function adviceOf({
  topic,
  capId,
  threshold,
  runId,
}: Pick<StandingNotice, 'topic' | 'capId' | 'threshold' | 'runId'>): string {
  if (topic === 'surge') {
    return `Most of it cost run ${runId}. Look: \`aos costs --window 24h\`. What stops it: \`aos costs cap workspace.day <usd>\`, or cancel what runs.`;
  }
  if (topic === 'unpriced' || capId === null) {
    return `A call of run ${runId} had no known price. What it cost is in no sum, and no cap stops it. Say what the model costs: \`aos doctor\` tells where; 0 is a price.`;
  }
  return threshold !== null && threshold >= 100
    ? `What would cost more is refused. Raise it with \`aos costs cap ${capId} <usd>\`, or PUT /v1/cost/caps/${capId}.`
    : 'At 100% what would cost more is refused. Look: `aos costs caps`; what the month may come to: `aos costs forecast`.';
}

export function messageOf(notice: SpendingNotice): SpendingMessage {
  const { id, topic, capId, threshold, spentUsd, limitUsd, runId } = notice;
  const isSurge = topic === 'surge';
  const sums = { spent_usd: spentUsd, limit_usd: isSurge ? null : limitUsd, ...(isSurge && { usual_usd: limitUsd }) };
  return {
    deliveryId: id,
    event: SPENDING_EVENTS[topic],
    heading: headingOf(notice),
    text: adviceOf(notice),
    data: { cap_id: capId, threshold, ...sums, run_id: runId },
  };
}

/** @returns what was told and is still so, for people to read */
export const createStandingNotices =
  ({ standing }: Pick<SpendingNoticeStore, 'standing'>) =>
  async (customerId: string) =>
    (await standing(customerId)).map((notice) => ({
      topic: notice.topic,
      title: headingOf(notice),
      cap_id: notice.capId,
      threshold: notice.threshold,
      run_id: notice.runId,
      at: notice.at,
    }));
