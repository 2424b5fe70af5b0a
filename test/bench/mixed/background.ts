/** What went on beside the callers, read from the record: webhooks and runs of schedules. */
import { sql } from 'drizzle-orm';
import { first } from '../../../src/platform/core/present.ts';
import type { Deployment } from '../../support/processes/deployment.ts';
import type { Traffic } from './print.ts';
import type { Receiver } from './receiver.ts';

/** @param from of the traffic: runs that were accepted since */
export async function inBackground(
  { db }: Deployment,
  receiver: Receiver,
  from: Date,
): Promise<Pick<Traffic, 'webhooks' | 'scheduled'>> {
  const webhooks = first(await db.rows<{ due: number }>(sql`select count(*)::int as due from webhook_deliveries`));
  await receiver.untilCount(webhooks.due);
  const scheduled = first(
    await db.rows<{ succeeded: number; other: number }>(sql`
    select count(*) filter (where status = 'succeeded')::int as succeeded,
      count(*) filter (where status in ('failed', 'cancelled'))::int as other
    from runs where created_at >= ${from.toISOString()}::timestamptz and transport = 'cron'`),
  );
  return { webhooks: { due: webhooks.due, received: receiver.count() }, scheduled: scheduled };
}
