/** Every query on what workspaces buy. The wallet and the keys of the model router have stores of their own. */
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { Plan } from '../workspaces/model.ts';
import { workspaces } from '../workspaces/table.ts';
import type { PaidTier } from './catalogue.ts';
import type { Currency } from './model.ts';
import type { BillingEvent } from './signature.ts';
import { OVER, SUSPENDED, type SubscriptionChange } from './subscription.ts';
import { billingEvents, topups } from './table.ts';

export interface BilledWorkspace {
  workspaceId: string;
  status: 'pending' | 'provisioning' | 'ready' | 'failed' | 'archived';
  plan: Plan;
  planInForce: Plan;
  payer: string | undefined;
  planId: string | undefined;
  subscriptionId: string | undefined;
}

export interface TopupRow {
  sessionId: string;
  customerId: string;
  currency: Currency;
  /** In the currency's cents. */
  chargedCents: number;
  creditUsdMicros: number;
  fxUsdIdr: string;
}

export type BillingStore = ReturnType<typeof createBillingStore>;

const field = (name: string) => sql<string | null>`${workspaces.config} ->> ${name}`;

/** A plan stays with the workspace's own keys or hosted, as it was. */
const planFor = (tier: PaidTier | 'free') =>
  tier === 'free'
    ? sql`'free'::workspace_plan`
    : sql`(${tier}::text || case when plan::text like '%hosted' then '_hosted' else '_byo' end)::workspace_plan`;

/**
 * The plan that the operator gave is the least that a workspace has, and the operator's own workspace is not the
 * provider's to change.
 */
const planOfTier = (tier: SubscriptionChange['tier']) =>
  tier === undefined
    ? sql`plan`
    : sql`case when status = 'archived' or plan = 'internal' then plan else greatest(granted_plan, ${planFor(tier)}) end`;

/**
 * The plan that was paid for goes down with the subscription at once, and up with a payment alone.
 * @param before the plan that was paid for until now
 */
const paidPlanOf = ({ tier, isPaid }: SubscriptionChange, before = sql`paid_plan`) => {
  if (tier === undefined) return before;
  if (tier === 'free') return sql`null`;
  // Without the case `least` would take a plan that was never paid for as the highest.
  return isPaid ? planFor(tier) : sql`case when ${before} is not null then least(${before}, ${planFor(tier)}) end`;
};

export const createBillingStore = (db: Database) => ({
  async findDeployment(customerId: string): Promise<BilledWorkspace | undefined> {
    const [row] = await db.orm
      .select({
        workspaceId: workspaces.identityWorkspaceId,
        status: workspaces.status,
        plan: workspaces.plan,
        planInForce: workspaces.planInForce,
        payer: field('billing_customer_id'),
        planId: field('billing_plan_id'),
        subscriptionId: field('billing_subscription_id'),
      })
      .from(workspaces)
      .where(eq(workspaces.customerId, customerId));
    if (!row) return undefined;
    const { payer, planId, subscriptionId, ...rest } = row;
    return {
      ...rest,
      payer: payer ?? undefined,
      planId: planId ?? undefined,
      subscriptionId: subscriptionId ?? undefined,
    };
  },

  /** Keeps the first payer. @returns the one on record */
  async keepPayer(customerId: string, payer: string): Promise<string> {
    const [row] = await db.rows<{ payer: string }>(sql`
      update workspaces set config = (coalesce(config, '{}') || jsonb_build_object(
          'billing_customer_id', coalesce(config ->> 'billing_customer_id', ${payer}::text))) - 'billing_customer_error'
      where customer_id = ${customerId} returning config ->> 'billing_customer_id' as payer`);
    return row?.payer ?? payer;
  },

  /**
   * Puts the subscription on record, and its plan's caps in force, unless another one was recorded since.
   * @param before the subscription on record when the change began
   */
  async recordSubscription(
    customerId: string,
    before: string | undefined,
    subscriptionId: string,
    change: SubscriptionChange,
  ): Promise<boolean> {
    const { planId, tier } = change;
    const isSame = sql`config ->> 'billing_subscription_id' = ${subscriptionId}::text`;
    const rows = await db.rows(sql`
      update workspaces set
        config = coalesce(config, '{}') || jsonb_build_object(
          'billing_subscription_id', ${subscriptionId}::text, 'billing_plan_id', ${planId ?? null}::text),
        plan = ${planOfTier(tier)},
        paid_plan = ${paidPlanOf(change, sql`(case when ${isSame} then paid_plan end)`)}
      where customer_id = ${customerId}
        and config ->> 'billing_subscription_id' is not distinct from ${before ?? null}::text
      returning 1`);
    return rows.length > 0;
  },

  /** Records what the provider changed of a subscription that is on record. @returns whether one is */
  async followSubscription(subscriptionId: string, change: SubscriptionChange): Promise<boolean> {
    const { planId, tier } = change;
    const config =
      planId === undefined
        ? sql`config - 'billing_subscription_id' - 'billing_plan_id'`
        : sql`config || jsonb_build_object('billing_plan_id', ${planId}::text)`;
    const rows = await db.rows(sql`
      update workspaces set config = ${config}, plan = ${planOfTier(tier)}, paid_plan = ${paidPlanOf(change)}
      where config ->> 'billing_subscription_id' = ${subscriptionId} returning 1`);
    return rows.length > 0;
  },

  /**
   * Records that an invoice of a subscription on record was paid. It buys no more than what the subscription is for by
   * now.
   * @param mostOf the tier that an invoice buys of a subscription to a plan
   */
  recordPayment: (
    subscriptionId: string,
    mostOf: (planId: string | undefined) => PaidTier | undefined,
  ): Promise<void> =>
    db.transaction(async () => {
      const [row] = await db.rows<{ planId: string | null }>(sql`
        select config ->> 'billing_plan_id' as "planId" from workspaces
        where config ->> 'billing_subscription_id' = ${subscriptionId} for update`);
      const tier = row && mostOf(row.planId ?? undefined);
      if (!tier) return;
      await db.rows(sql`
        update workspaces set paid_plan = greatest(paid_plan, ${planFor(tier)})
        where config ->> 'billing_subscription_id' = ${subscriptionId}`);
    }),

  /**
   * @returns whether a subscription is known to have been stopped after this moment, at which one of its invoices was
   * paid
   */
  async isStoppedSince(subscriptionId: string, created: number): Promise<boolean> {
    const rows = await db.rows(sql`
      select 1 from billing_events
      where payload #>> '{data,object,id}' = ${subscriptionId} and type like 'customer.subscription.%'
        and (type = 'customer.subscription.deleted'
          or payload #>> '{data,object,status}' = any(${sql.param([...OVER, ...SUSPENDED])}))
        and case when jsonb_typeof(payload -> 'created') = 'number' then (payload ->> 'created')::numeric > ${created}::numeric end
      limit 1`);
    return rows.length > 0;
  },

  /** Records a session once; one that is paid already stays as it was. */
  async addTopup(topup: TopupRow): Promise<void> {
    await db.orm.insert(topups).values(topup).onConflictDoNothing();
  },

  /** Marks a top-up as paid, once. @returns it, the first time */
  async completeTopup(sessionId: string): Promise<TopupRow | undefined> {
    const [row] = await db.orm
      .update(topups)
      .set({ completedAt: sql`now()` })
      .where(and(eq(topups.sessionId, sessionId), isNull(topups.completedAt)))
      .returning({
        sessionId: topups.sessionId,
        customerId: topups.customerId,
        currency: topups.currency,
        chargedCents: topups.chargedCents,
        creditUsdMicros: topups.creditUsdMicros,
        fxUsdIdr: topups.fxUsdIdr,
      });
    return row;
  },

  /**
   * Runs `handle` the first time an event comes, in the transaction that records it.
   * @returns false for a repeated one
   */
  onceFor: (event: BillingEvent, handle: () => Promise<void>): Promise<boolean> =>
    db.transaction(async () => {
      const [row] = await db.orm
        .insert(billingEvents)
        .values({ id: event.id, type: event.type, payload: event.payload })
        .onConflictDoNothing()
        .returning({ id: billingEvents.id });
      if (!row) return false;
      await handle();
      await db.orm
        .update(billingEvents)
        .set({ processedAt: sql`now()` })
        .where(eq(billingEvents.id, event.id));
      return true;
    }),

  /**
   * @returns whether something later is known about what an event is about, as events do not arrive in order. Until the
   * transaction that it is called in ends nobody else is answered about the same, because two that come at once know
   * nothing of each other.
   */
  async isOvertaken({ id, created, object }: BillingEvent): Promise<boolean> {
    // It is a statement of its own, so that the next one sees what was committed while this one waited.
    await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`billing/${String(object.id)}`}, 0))`);
    const rows = await db.rows(sql`
      select 1 from billing_events
      where payload #>> '{data,object,id}' = ${String(object.id)} and id <> ${id}
        and type like 'customer.subscription.%'
        and case when jsonb_typeof(payload -> 'created') = 'number' then (payload ->> 'created')::numeric > ${created}::numeric end
      limit 1`);
    return rows.length > 0;
  },
});
