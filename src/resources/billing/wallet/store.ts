/**
 * Wallets: an append-only ledger of US dollars in millionths. The database keeps the balance (triggers, `sql/`): a row that is inserted moves the limit of the wallet's budget, once for its key, and nothing else can. A
 * balance may be below zero by what was already used; new spending is refused then.
 */
import { and, desc, eq, lt, sql, type SQL } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { countRows, countsOf, findPage } from '../../tallies/store.ts';
import { ROUTER_MARKUP, USD_MICROS, walletBudgetId, type LedgerKind, type Tariff } from '../model.ts';
import { walletLedger } from '../table.ts';

export interface Posting {
  customerId: string;
  /** It names what is charged or credited, so that it is so once: `run:<id>:<turn>`, `session:<id>`. */
  key: string;
  kind: LedgerKind;
  /** It is below zero for a charge. */
  deltaUsdMicros: number;
  /** A top-up was paid with this, where it was paid in rupiah. */
  paidIdrCents?: number;
  /** Rupiah for one dollar. */
  fxUsdIdr?: string;
  meta?: Record<string, unknown>;
}

const LEDGER_ROW = {
  id: walletLedger.id,
  delta_usd_micros: walletLedger.deltaUsdMicros,
  balance_after_usd_micros: walletLedger.balanceAfterUsdMicros,
  kind: walletLedger.kind,
  paid_idr_cents: walletLedger.paidIdrCents,
  fx_usd_idr: walletLedger.fxUsdIdr,
  meta: walletLedger.meta,
  created_at: walletLedger.createdAt,
};

export type WalletStore = ReturnType<typeof createWalletStore>;

export const createWalletStore = (db: Database) => {
  async function balance(customerId: string): Promise<number> {
    const [row] = await db.rows<{ balance: number }>(sql`
      select (limit_usd * ${USD_MICROS})::float8 as balance from budgets where id = ${walletBudgetId(customerId)}`);
    return row?.balance ?? 0;
  }

  return {
    balance,

    /** Charges or credits a wallet; a repeated key changes nothing. Joins the transaction that it is called in. */
    async post(posting: Posting): Promise<{ posted: boolean; balanceUsdMicros: number }> {
      const [row] = await db.rows<{ balance: number }>(sql`
        ${insertPosting(sql`(select 1)`, posting)} returning balance_after_usd_micros::float8 as balance`);
      return { posted: row !== undefined, balanceUsdMicros: row?.balance ?? (await balance(posting.customerId)) };
    },

    /** @returns a page of the ledger, newest first */
    async list(customerId: string, { limit, offset }: { limit: number; offset: number }) {
      const tallied = { list: 'wallet_ledger', customerId } as const;
      const start = await findPage(db, tallied, offset);
      const rows = await db.orm
        .select(LEDGER_ROW)
        .from(walletLedger)
        .where(
          and(
            eq(walletLedger.customerId, customerId),
            start.below === undefined ? undefined : lt(walletLedger.id, start.below),
          ),
        )
        .orderBy(desc(walletLedger.id))
        .limit(limit)
        .offset(start.offset);
      return { rows, total: await countRows(db, tallied) };
    },

    /** @returns all the credit that was ever bought, in millionths of a dollar */
    async totalToppedUp(customerId: string): Promise<number> {
      const { total } = first(
        await db.rows<{ total: number }>(sql`
        select (coalesce(sum(c.usd), 0) * ${USD_MICROS})::float8 as total
        from ${countsOf({ list: 'wallet_ledger', customerId, filter: { kind: 'topup' } })} c`),
      );
      return total;
    },

    /**
     * While the model router is on, whatever the deployment pays for is charged as the router's. The operator's
     * workspace pays nobody.
     */
    async tariffOf(customerId: string): Promise<Tariff | undefined> {
      const [row] = await db.rows<{ isRouted: boolean }>(sql`
        select exists (select 1 from router_keys k where k.customer_id = w.customer_id) as "isRouted"
        from workspaces w where w.customer_id = ${customerId} and w.plan <> 'internal'`);
      if (!row) return undefined;
      return row.isRouted ? { kind: 'model_router', markup: ROUTER_MARKUP } : { kind: 'run', markup: '1' };
    },
  };
};

/**
 * An `insert ... select` that posts where `guard` has a row, of which it has one or none. A repeated key inserts
 * nothing.
 */
export const insertPosting = (
  guard: SQL,
  { customerId, key, kind, deltaUsdMicros, paidIdrCents, fxUsdIdr, meta }: Posting,
): SQL => sql`
  insert into wallet_ledger (customer_id, key, kind, delta_usd_micros, paid_idr_cents, fx_usd_idr, meta)
  select ${customerId}, ${key}, ${kind}::ledger_kind, ${deltaUsdMicros}::bigint, ${paidIdrCents ?? null}::bigint,
    ${fxUsdIdr ?? null}::numeric, ${JSON.stringify(meta ?? {})}::jsonb
  from ${guard} guard`;
