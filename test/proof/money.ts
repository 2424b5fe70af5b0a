/**
 * What must hold of money and of counts, whatever was lost on the way: each budget is the sum of its calls, nothing is
 * held for nobody, each tally equals a count, each delivery has one row. Queries that have a row for each violation.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../src/platform/db/client.ts';

/** A charge is a call's cost, rounded to a millionth of a dollar. */
const ROUNDING = sql`0.5`;

const OF_RUNS: readonly ((customerId: string) => SQL)[] = [
  /** A run's calls are in its budgets, each once. */
  (customerId) => sql`
    select 'budget ' || b.id || ' has spent ' || b.spent_usd || ' and its calls ' || coalesce(sum(r.cost_usd), 0) as what
    from budgets b left join runs r on r.budget_ids @> array[b.id]
    where b.customer_id = ${customerId} and b.id not like 'wallet:%'
    group by b.id having b.spent_usd <> coalesce(sum(r.cost_usd), 0)`,

  /** What a run cost is what its calls were charged, which the ledger has by their keys. */
  (customerId) => sql`
    select 'run ' || r.id || ' cost ' || r.cost_usd || ' and was charged ' || coalesce(-sum(l.delta_usd_micros), 0) / 1000000.0 as what
    from runs r left join wallet_ledger l on l.customer_id = r.customer_id and starts_with(l.key, 'run:' || r.id || ':')
    where r.customer_id = ${customerId} group by r.id
    having abs(r.cost_usd * 1000000 + coalesce(sum(l.delta_usd_micros), 0))
      > ${ROUNDING} * (r.turn_count + (select count(*) from run_events e where e.run_id = r.id and e.status = 'aborted'))`,

  /**
   * The timeline tells of each call; one whose reply came after the end of its run is in the cost alone. A run ends before
   * such a reply if it is cancelled, or gives up on an attempt that is only slow.
   */
  (customerId) => sql`
    select 'run ' || r.id || ' is ' || r.status || ', cost ' || r.cost_usd || ' and its events ' || coalesce(sum(e.cost_usd), 0) as what
    from runs r left join run_events e on e.run_id = r.id where r.customer_id = ${customerId} group by r.id
    having coalesce(sum(e.cost_usd), 0) > r.cost_usd
      or (coalesce(sum(e.cost_usd), 0) <> r.cost_usd and (r.status = 'succeeded'
        or r.status = 'failed' and r.error_code is distinct from 'model_timeout'))`,
  (customerId) => sql`
    select 'run ' || r.id || ' counts ' || r.event_count || ' events and has ' || count(e.id) as what
    from runs r left join run_events e on e.run_id = r.id
    where r.customer_id = ${customerId} group by r.id having r.event_count <> count(e.id)`,

  /** Each end that is announced has one delivery for an endpoint, each version of an artifact one for a destination. */
  (customerId) => sql`
    select 'endpoint ' || subscription_id || ' has ' || count(*) || ' deliveries of ' || event_key as what
    from webhook_deliveries where customer_id = ${customerId} group by subscription_id, event_key having count(*) <> 1`,
  (customerId) => sql`
    select 'destination ' || d.id || ' has ' || count(o.id) || ' deliveries of artifact ' || a.id as what
    from output_destinations d
      join projects p on p.customer_id = d.customer_id and p.status = 'completed' and p.created_at > d.created_at
      join artifacts a on a.project_id = p.id and not a.superseded
      left join output_deliveries o on o.destination_id = d.id and o.artifact_id = a.id
    where d.customer_id = ${customerId} and d.enabled and d.workflow_slugs is null
    group by d.id, a.id having count(o.id) <> 1`,
  (customerId) => sql`
    select 'delivery ' || d.id || ' counts ' || d.attempt_count || ' attempts and logs ' || count(a.attempt) as what
    from webhook_deliveries d left join webhook_delivery_attempts a on a.delivery_id = d.id
    where d.customer_id = ${customerId} group by d.id having count(a.attempt) > d.attempt_count`,
];

/** What is held for calls under way. */
export const HELD = (customerId: string): SQL => sql`
  select 'budget ' || id || ' holds ' || reserved_usd || ' of which ' || coalesce(
    (select string_agg(amount_usd || ' for run ' || run_id, ', ') from cost_reservations c where c.budget_id = b.id), 'none is for a run') as what
  from budgets b where customer_id = ${customerId}
    and (reserved_usd <> 0 or exists (select 1 from cost_reservations c where c.budget_id = b.id))`;

/** Folded or not, what is counted of a list is what is there, with its money. Every list that the database counts. */
async function tallyFaults(db: Database): Promise<string[]> {
  const views = await db.rows<{ name: string }>(sql`
    select viewname as name from pg_views where schemaname = current_schema() and starts_with(viewname, 'counted_')`);
  const found: string[] = views.length === 0 ? ['the database counts no list'] : [];
  for (const { name } of views) {
    const rows = await db.rows<{ what: string }>(sql`
      with kept as (
        select customer_id, dims, sum(rows) as rows, sum(usd) as usd from (
          select customer_id, dims, rows, usd from tallies where level = 5 and list = ${name.slice('counted_'.length)}
          union all select customer_id, dims, rows, usd from tally_deltas where list = ${name.slice('counted_'.length)}
        ) k group by 1, 2
      ), there as (
        select customer_id, dims, count(*) as rows, sum(usd) as usd from ${sql.identifier(name)} group by 1, 2
      )
      select ${name} || ' of ' || customer_id || ' ' || dims::text || ' keeps ' || coalesce(k.rows, 0) || ' (' ||
        coalesce(k.usd, 0) || ' USD) and has ' || coalesce(t.rows, 0) || ' (' || coalesce(t.usd, 0) || ' USD)' as what
      from kept k full join there t using (customer_id, dims)
      where coalesce(k.rows, 0) <> coalesce(t.rows, 0) or coalesce(k.usd, 0) <> coalesce(t.usd, 0)`);
    found.push(...rows.map(({ what }) => what));
  }
  return found;
}

/** Call it when nothing of the workspace is under way. */
export async function moneyFaults(db: Database, customerId: string): Promise<string[]> {
  const found = await tallyFaults(db);
  for (const check of [...OF_RUNS, HELD]) {
    found.push(...(await db.rows<{ what: string }>(check(customerId))).map(({ what }) => what));
  }
  return found;
}
