/** Money of workspaces. A wallet has no foreign key to its workspace: credit may be bought before there is one. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  check,
  index,
  integer,
  jsonb,
  numeric,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant, usd } from '../../platform/db/columns.ts';
import { CURRENCIES, LEDGER_KINDS } from './model.ts';

export const ledgerKind = pgEnum('ledger_kind', LEDGER_KINDS);
export const billingCurrency = pgEnum('billing_currency', CURRENCIES);

/**
 * The ledger is append-only: triggers refuse updates and deletions, and write `balance_after_usd_micros`. The balance
 * of a wallet is the limit of its budget (`wallet:<customer>`), which the same trigger moves: nothing else can.
 */
export const walletLedger = pgTable(
  'wallet_ledger',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    customerId: text('customer_id').notNull(),
    /** It names what is charged or credited, so that it is so once: `run:<id>:<turn>`, `session:<id>`. */
    key: text('key').notNull(),
    deltaUsdMicros: bigint('delta_usd_micros', { mode: 'number' }).notNull(),
    balanceAfterUsdMicros: bigint('balance_after_usd_micros', { mode: 'number' }).notNull(),
    kind: ledgerKind('kind').notNull(),
    paidIdrCents: bigint('paid_idr_cents', { mode: 'number' }),
    fxUsdIdr: numeric('fx_usd_idr', { precision: 14, scale: 4 }),
    meta: jsonb('meta').$type<Record<string, unknown>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('wallet_ledger_once').on(t.customerId, t.key),
    // It serves the list, newest first.
    index('wallet_ledger_by_workspace').on(t.customerId, t.id),
    check(
      'wallet_ledger_charges_are_negative',
      sql`case when ${t.kind} = 'topup' then ${t.deltaUsdMicros} > 0 when ${t.kind} in ('run', 'model_router', 'managed_infra') then ${t.deltaUsdMicros} < 0 else ${t.deltaUsdMicros} <> 0 end`,
    ),
  ],
);

/** Events of the billing provider, as they came. */
export const billingEvents = pgTable(
  'billing_events',
  {
    /** The provider's id. */
    id: text('id').primaryKey(),
    type: text('type').notNull(),
    payload: jsonb('payload').$type<Record<string, unknown>>().notNull(),
    receivedAt: instant('received_at').notNull().defaultNow(),
    processedAt: instant('processed_at'),
  },
  // It finds what came later about the same thing, as events do not arrive in order.
  (t) => [index('billing_events_by_object').on(sql`(${t.payload} #>> '{data,object,id}')`)],
);

/** A hosted payment page for credit, from its making to its payment. */
export const topups = pgTable(
  'topups',
  {
    /** The provider's checkout session. */
    sessionId: text('session_id').primaryKey(),
    customerId: text('customer_id').notNull(),
    currency: billingCurrency('currency').notNull(),
    /** In the currency's cents. */
    chargedCents: bigint('charged_cents', { mode: 'number' }).notNull(),
    creditUsdMicros: bigint('credit_usd_micros', { mode: 'number' }).notNull(),
    fxUsdIdr: numeric('fx_usd_idr', { precision: 14, scale: 4 }).notNull(),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
  },
  (t) => [index('topups_by_workspace').on(t.customerId, t.createdAt)],
);

/** The key of the managed model router, while a workspace has one. */
export const routerKeys = pgTable(
  'router_keys',
  {
    customerId: text('customer_id').primaryKey(),
    /** The router knows the key by this name. */
    keyHash: text('key_hash').notNull(),
    limitUsd: usd('limit_usd').notNull(),
    /** The key, sealed. */
    sealed: text('sealed').notNull(),
    /** It counts changes of the limit; the router knows of them up to `toldRevision`. */
    revision: integer('revision').notNull().default(1),
    toldRevision: integer('told_revision').notNull().default(1),
    createdAt: createdAt(),
  },
  (t) => [check('router_keys_limited', sql`${t.limitUsd} >= 0`)],
);

/**
 * Says who is changing something of a workspace at a provider, as no transaction may stay open for as long as that
 * takes.
 */
export const billingLeases = pgTable('billing_leases', {
  customerId: text('customer_id').primaryKey(),
  token: uuid('token').notNull(),
  /** From this time on the holder counts as dead. */
  expiresAt: instant('expires_at').notNull(),
});
