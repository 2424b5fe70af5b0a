/** Whether the inbox tells the truth: its open waits against what really waits, and what was answered against its subject. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../src/platform/db/client.ts';

/** @returns what should hold of a workspace, or of all, and does not; a sentence each */
export async function inboxFaults(db: Database, customerId?: string): Promise<string[]> {
  const rows = await db.rows<{ what: string }>(faults(customerId));
  return rows.map(({ what }) => what);
}

const faults = (customerId: string | undefined): SQL => {
  const mine = sql`customer_id = coalesce(${customerId ?? null}::text, customer_id)`;
  return sql`
    with really as (select * from waiting_subjects where ${mine}),
    listed as (
      select * from waits where ${mine} and settled_at is null and (expires_at is null or expires_at > now())
    )
    select case when l.subject is null then r.kind || ' of ' || r.subject || ' waits and is not in the inbox'
      else l.kind || ' of ' || l.subject || ' is open in the inbox and does not wait' end as what
    from really r full join listed l on l.subject = r.subject and l.kind = r.kind
    where l.subject is null or r.subject is null
    union all
    select 'the wait for ' || l.subject || ' names other rows than its subject'
    from really r join listed l on l.subject = r.subject and l.kind = r.kind
    where (l.customer_id, l.project_id, l.subtask_id, l.run_id, l.call_id)
      is distinct from (r.customer_id, r.project_id, r.subtask_id, r.run_id, r.call_id)
    union all
    select 'the gate ' || s.id || ' was answered ' || (s.gate_output ->> 'decision') || ' by ' ||
      (s.gate_output ->> 'decided_by') || ', its wait ' || coalesce(w.answer || ' by ' || w.settled_by, 'closed without an answer')
    from subtasks s join lateral (
      select * from waits w where w.subject = s.id::text order by revision desc limit 1) w on true
    where s.customer_id = coalesce(${customerId ?? null}::text, s.customer_id) and s.gate_output is not null and s.status in ('succeeded', 'failed') and w.settled_at is not null
      and (w.settled_by is distinct from s.gate_output ->> 'decided_by'
        or (w.answer in ('approve', 'apply')) is distinct from (s.gate_output ->> 'decision' = 'approved'))`;
};
