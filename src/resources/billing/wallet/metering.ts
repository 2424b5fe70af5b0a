/**
 * Charges minutes of managed infrastructure, in live billing, to workspaces on a hosted plan for as long as they are
 * ready. `infra_charged_until` says up to where; it moves on in the statement that charges, by whole minutes, so a
 * late, repeated or killed tick charges each minute once. A balance may go below zero: what was used is owed, and new
 * credit pays it first.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { isHosted, PLANS } from '../../workspaces/model.ts';
import { MANAGED_USD_MICROS_PER_MINUTE } from '../model.ts';

const HOSTED = sql`${sql.param(PLANS.filter(isHosted))}::workspace_plan[]`;
/** A workspace that became ready this long ago was ready at the tick before, if there was one. */
const NEW = sql`interval '2 minutes'`;
const INSTANT = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

export type Metering = ReturnType<typeof createMetering>;

export const createMetering = (db: Database) => ({
  /**
   * Begins and ends the charging. New workspaces are charged from when they were ready; one that was ready before, and
   * gets a hosted plan, from now on. What is left of the last minute is not charged.
   */
  async follow(): Promise<void> {
    await db.rows(sql`
      with changed as (
        select customer_id, plan = any(${HOSTED}) and status = 'ready' as is_hosted from workspaces
        where (plan = any(${HOSTED}) and status = 'ready') <> (infra_charged_until is not null)
        order by customer_id for no key update
      )
      update workspaces w set infra_charged_until =
        case when c.is_hosted then case when w.ready_at > now() - ${NEW} then w.ready_at else now() end end
      from changed c where c.customer_id = w.customer_id`);
  },

  /**
   * Charges the minutes that went by, of some workspaces at a time.
   * @returns how many were charged; fewer than `limit` means that none are left
   */
  async charge(limit: number): Promise<number> {
    const charged = await db.rows(sql`
      with due as (
        select customer_id, infra_charged_until as since,
          floor(extract(epoch from now() - infra_charged_until) / 60)::int as minutes
        from workspaces
        where plan = any(${HOSTED}) and status = 'ready' and infra_charged_until <= now() - interval '1 minute'
        order by customer_id limit ${limit} for no key update skip locked
      ), moved as (
        update workspaces w set infra_charged_until = d.since + make_interval(mins => d.minutes)
        from due d where d.customer_id = w.customer_id
        returning w.customer_id, d.minutes, to_char(d.since at time zone 'utc', ${INSTANT}) as "from",
          to_char(w.infra_charged_until at time zone 'utc', ${INSTANT}) as "to"
      )
      insert into wallet_ledger (customer_id, key, kind, delta_usd_micros, meta)
      select customer_id, 'infra:' || customer_id || ':' || "from" || '-' || "to", 'managed_infra',
        -minutes::bigint * ${MANAGED_USD_MICROS_PER_MINUTE}::bigint,
        jsonb_build_object('from', "from", 'to', "to", 'minutes', minutes)
      from moved order by customer_id
      returning customer_id`);
    return charged.length;
  },

  /** Forgets what was not charged: where billing is not live nothing is charged for, later either. */
  async forget(): Promise<void> {
    await db.rows(sql`update workspaces set infra_charged_until = null where infra_charged_until is not null`);
  },
});
