/**
 * Finds who can answer a gate, and lets an owner decide if too few can. Each fragment is of a statement with the wait `w` and
 * its step `s`.
 */
import { sql, type SQL } from 'drizzle-orm';
import { keysOf } from '../../api-keys/store.ts';
import { memberOf, membersOf } from '../../members/store/fragments.ts';

/** Those who made an artifact that the gate is about as it is, by hand. */
export const LAST_CHANGERS = sql`
  select v.changed_by as actor_id
  from tasks t join tasks u on u.project_id = t.project_id and u.phase_slug = any(t.depends_on)
    join artifacts v on v.task_id = u.id and v.customer_id = w.customer_id and not v.superseded
  where t.id = s.task_id and t.customer_id = w.customer_id and v.changed_by is not null`;

/** The persons whom four eyes rule out. */
const INVOLVED = sql`
  select person_behind(w.customer_id, by.who) from (
    select p.started_by as who from projects p where p.id = w.project_id and p.customer_id = w.customer_id
    union all (${LAST_CHANGERS})
  ) by where by.who is not null`;

/**
 * The persons whose answer counts, now or once the gate has escalated: members, holders of API keys, and other people who are
 * named by their address.
 */
export const CAN_ANSWER = sql`array(
  select distinct person_behind(w.customer_id, one.who) from (
    select m.email as who from ${membersOf(sql`w.customer_id`)} m
    union all
    select 'api-key:' || k.id from ${keysOf(sql`w.customer_id`)} k
    where keys_may_answer(s.gate_config)
    union all
    select named from addresses_named(s.gate_config) named
  ) one
  where has_say(w.customer_id, s.gate_config, true, one.who) and not (
    coalesce((s.gate_config ->> 'four_eyes')::boolean, false)
    and person_behind(w.customer_id, one.who) in (${INVOLVED}))
  order by 1)`;

/** Whether somebody is an owner, and fewer people can answer than have to approve. */
export const isLastResort = (who: string): SQL => sql`
  case when exists (
    select from ${memberOf(sql`w.customer_id`, sql`person_behind(w.customer_id, ${who})`)} m
    where m.role = 'owner'
      and not starts_with(${who}, 'api-key:'))
  then cardinality(${CAN_ANSWER}) < coalesce((s.gate_config ->> 'quorum')::int, 1) else false end`;
