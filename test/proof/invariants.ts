/**
 * What must hold once the faults are over: all that was accepted comes to its end within two minutes, and the record,
 * the world outside, the money and Temporal agree on what happened. Each violation names the ids that show it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../src/platform/core/present.ts';
import { faultsOf } from '../resources/projects/model/record.ts';
import type { Database } from '../../src/platform/db/client.ts';
import { inboxFaults } from '../support/database/inbox-oracle.ts';
import { HELD, moneyFaults } from './money.ts';
import type { Sink } from './sink.ts';
import type { Workload } from './workload.ts';
import { POST, PUT } from './workload-kinds.ts';

/** How long recovery may take. */
const RECOVERY_MS = 120_000;
/** How long it may take until what a dead worker's calls hold is given back: two minutes, and a round of housekeeping. */
const RELEASE_MS = 180_000;

export interface InvariantOptions {
  /** Past every proxy. */
  db: Database;
  workload: Workload;
  sink: Sink;
  say?: (text: string) => void;
}

export interface Inspection {
  /** From the end of the workload until everything had ended. */
  settledMs: number;
  /** What was recorded, for the report. */
  did: Record<string, number | string>;
  /** What should have held, and what was seen instead, with ids. */
  violations: string[];
}

/** Call it when the last fault is over and the workload has finished. */
export async function inspect(options: InvariantOptions): Promise<Inspection> {
  const startedAt = Date.now();
  const open = await untilSettled(options);
  const settledMs = Date.now() - startedAt;
  await untilReleased(options);
  const found = await violationsOf(options);
  return {
    settledMs,
    did: await summaryOf(options),
    violations: [...open.map((what) => `${what} ${RECOVERY_MS / 1_000} s after the faults`), ...found],
  };
}

/** What should hold when nothing is open, and does not. */
export async function violationsOf(options: InvariantOptions): Promise<string[]> {
  const found = await Promise.all([...CHECKS.map((check) => check(options)), projectsAreSound(options)]);
  return found.flat();
}

/** @returns what is still open when the time for it is over */
async function untilSettled({ db, workload, say }: InvariantOptions): Promise<string[]> {
  const { customerId, person, temporal } = workload;
  for (const deadline = Date.now() + RECOVERY_MS; ;) {
    await person.look();
    const open = await openRows(db, customerId);
    // Only then, as the list is long before.
    if (open.length === 0) open.push(...(await openWorkflows(temporal)));
    if (open.length === 0 || Date.now() > deadline) return open;
    say?.(`${open.length} still open, such as: ${open[0]}`);
    await wait(2_000);
  }
}

/** What was accepted and has not ended, by the record. */
export async function openRows(db: Database, customerId: string): Promise<string[]> {
  const rows = await db.rows<{ what: string }>(sql`
    select 'run ' || id || ' is ' || status as what from runs
    where customer_id = ${customerId} and status in ('queued', 'running')
    union all
    select 'project ' || id || ' is ' || status || coalesce(' (' || pause_reason || ')', '') from projects
    where customer_id = ${customerId} and status not in ('completed', 'abandoned')
    union all
    select 'delivery ' || id || ' of ' || event_key || ' is pending' from webhook_deliveries
    where customer_id = ${customerId} and status = 'pending'`);
  return rows.map(({ what }) => what);
}

/** What is held even then is a violation that `moneyFaults` tells of. */
async function untilReleased({ db, workload: { customerId }, say }: InvariantOptions): Promise<void> {
  for (const deadline = Date.now() + RELEASE_MS; Date.now() < deadline; await wait(2_000)) {
    const held = await db.rows<{ what: string }>(HELD(customerId));
    if (held.length === 0) return;
    say?.(`still held, such as: ${first(held).what}`);
  }
}

/** Nothing of what these ids are for has a row that is open. */
export async function openWorkflows({ client }: Workload['temporal']): Promise<string[]> {
  const open: string[] = [];
  try {
    for await (const { workflowId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
      if (/^(run|project|webhook)-/.test(workflowId)) open.push(`workflow ${workflowId} runs, and its row has ended,`);
    }
  } catch (error) {
    open.push(`Temporal gives no list of its workflows (${String(error)})`);
  }
  return open;
}

type Check = (options: InvariantOptions) => Promise<string[]>;

/** A check whose query has a row for each violation. */
const none =
  (query: (options: InvariantOptions) => SQL): Check =>
  async (options) =>
    (await options.db.rows<{ what: string }>(query(options))).map(({ what }) => what);

const ENDS = sql`('run_completed', 'run_failed', 'run_cancelled')`;
const PREFIX = 'This is ';

const CHECKS: readonly Check[] = [
  /** What was answered 201 is there. */
  async ({ db, workload: { accepted } }) => {
    const missing = async (table: string, ids: Iterable<string>) => {
      const rows = await db.rows<{ id: string }>(sql`
        select id from unnest(${sql.param([...ids])}::text[]) as answered(id)
        where not exists (select 1 from ${sql.identifier(table)} t where t.id = answered.id)`);
      return rows.map(({ id }) => `${table} ${id} was answered 201 and is not there`);
    };
    return [...(await missing('runs', accepted.runs.keys())), ...(await missing('projects', accepted.projects.keys()))];
  },

  /** What was refused has changed nothing. */
  async ({ db, workload: { refused } }) => {
    const texts = sql`${sql.param([...refused].map((name) => `${PREFIX}${name}.`))}::text[]`;
    const rows = await db.rows<{ what: string }>(sql`
      select 'run ' || id as what from runs, unnest(${texts}) said where attempt_id is null and starts_with(prompt, said)
      union all select 'project ' || id from projects where brief = any(${texts})`);
    return rows.map(({ what }) => `${what} was refused and is there`);
  },

  /** Whoever waited for its answer or did not: one end each, the one that its row has. */
  none(
    ({ workload: { customerId } }) => sql`
    select 'run ' || r.id || ' is ' || r.status || ' and has the ends ' || coalesce(e.ends::text, 'none') as what
    from runs r left join lateral (
      select array_agg(event_type::text) as ends from run_events where run_id = r.id and event_type in ${ENDS}) e on true
    where r.customer_id = ${customerId} and r.status in ('succeeded', 'failed', 'cancelled')
      and e.ends is distinct from array[case r.status
        when 'succeeded' then 'run_completed' when 'failed' then 'run_failed' else 'run_cancelled' end]`,
  ),
  none(
    ({ workload: { customerId } }) => sql`
    select 'project ' || p.id || ' is ' || p.status || ' and was completed ' || count(e.id) || ' times' as what
    from projects p left join project_events e on e.project_id = p.id and e.topic = 'project_completed'
    where p.customer_id = ${customerId} and p.status in ('completed', 'abandoned')
    group by p.id having count(e.id) <> (p.status = 'completed')::int`,
  ),

  /** A run of a conversation begins when the one before it has ended. */
  none(
    ({ workload: { customerId } }) => sql`
    select 'run ' || id || ' began before ' || before || ' had ended, in ' || conversation as what
    from (select id, conversation, started_at, lag(id) over conversations as before,
        lag(completed_at) over conversations as before_ended
      from runs where customer_id = ${customerId} and conversation is not null and status = 'succeeded'
      window conversations as (partition by conversation order by seq)) r
    where started_at < before_ended`,
  ),

  /** The idempotent sink has each key of a recorded call, no other, and with one body. */
  async ({ db, workload, sink }) => {
    const calls = await keysOf(db, workload, PUT);
    return [
      ...[...calls].flatMap(([key, statuses]) =>
        statuses.includes('succeeded') && !sink.puts.has(key)
          ? [`put ${key} is recorded and never reached the sink`]
          : [],
      ),
      ...[...sink.puts].flatMap(([key, { bodies }]) => [
        ...(calls.has(key) ? [] : [`put ${key} reached the sink and is not recorded`]),
        ...(bodies.size > 1 ? [`put ${key} reached the sink as ${[...bodies].join(' and ')}`] : []),
      ]),
    ];
  },

  /** What is not to be repeated was not, except where a person who saw that it had not arrived had it sent again. */
  async ({ db, workload, sink }) => {
    const calls = await keysOf(db, workload, POST);
    return [
      ...[...calls].flatMap(([key, statuses]) =>
        statuses.includes('succeeded') && !sink.posts.has(key) ? [`post ${key} is recorded and never arrived`] : [],
      ),
      ...[...sink.posts].flatMap(([key, times]) => [
        ...(calls.has(key) ? [] : [`post ${key} arrived and is not recorded`]),
        ...(times > 1 ? [`post ${key} arrived ${times} times; its calls: ${calls.get(key)?.join(', ')}`] : []),
      ]),
    ];
  },

  /** Each end that is announced was delivered to each endpoint that asked for it, and was taken there. */
  none(
    ({ workload: { customerId } }) => sql`
    with ended as (
      select 'run:' || id as key, 'run.' || status as event, completed_at from runs
      where customer_id = ${customerId} and parent_run_id is null and attempt_id is null
        and status in ('succeeded', 'failed')
      union all
      select 'project:' || id || ':' || completions, 'project.completed', completed_at from projects
      where customer_id = ${customerId} and status = 'completed'
    )
    select key || ' for endpoint ' || s.id || ' is ' || coalesce(d.status::text, 'not recorded') as what
    from ended join webhook_subscriptions s
      on s.customer_id = ${customerId} and s.events && array['*', event] and s.created_at < completed_at
    left join webhook_deliveries d on d.subscription_id = s.id and d.event_key = key
    where d.status is distinct from 'delivered'`,
  ),
  async ({ db, workload: { customerId }, sink }) => {
    const rows = await db.rows<{ subject: string }>(sql`
      select distinct substring(event_key from '^[a-z]+:[^:]+') as subject from webhook_deliveries
      where customer_id = ${customerId} and status = 'delivered'`);
    return rows.flatMap(({ subject }) =>
      sink.hooks.has(subject) ? [] : [`${subject} is delivered and was not taken`],
    );
  },

  /** The wallet has what its ledger says, and each payment and each paid turn is in it once. */
  none(
    ({ workload: { customerId, paid } }) => sql`
    select 'payment ' || session || ' was heard and credited ' || count(l.id) || ' times' as what
    from unnest(${sql.param([...paid])}::text[]) session
    left join wallet_ledger l on l.customer_id = ${customerId} and l.key = 'session:' || session
    group by session having count(l.id) <> 1`,
  ),
  none(
    ({ workload: { customerId } }) => sql`
    select 'wallet ' || b.id || ' has ' || b.limit_usd || ' and its ledger ' || sum(l.delta_usd_micros) / 1000000.0 as what
    from budgets b join wallet_ledger l on l.customer_id = b.customer_id
    where b.id = 'wallet:' || ${customerId} group by b.id having b.limit_usd * 1000000 <> sum(l.delta_usd_micros)`,
  ),
  none(
    ({ workload: { customerId } }) => sql`
    select 'run ' || r.id || ' has ' || r.turn_count || ' turns and ' || count(l.id) || ' charges' as what
    from runs r left join wallet_ledger l on l.customer_id = r.customer_id and starts_with(l.key, 'run:' || r.id || ':')
    where r.customer_id = ${customerId} and r.status = 'succeeded' group by r.id having count(l.id) <> r.turn_count
      + (select count(*) from run_events e where e.run_id = r.id and e.status = 'aborted' and e.cost_usd >= 0.0000005)`,
  ),
  ({ db, workload: { customerId } }) => moneyFaults(db, customerId),

  /** What waits is in the inbox, what was answered is there as it was, and nothing else is. */
  ({ db, workload: { customerId } }) => inboxFaults(db, customerId),

  /** What an attempt cost is what its run and those that it spawned cost. */
  none(
    ({ workload: { customerId } }) => sql`
    select 'attempt ' || a.id || ' cost ' || a.cost_usd || ' and its runs ' || coalesce(sum(r.cost_usd), 0) as what
    from attempts a left join runs r on r.attempt_id = a.id
    where a.customer_id = ${customerId} group by a.id having a.cost_usd <> coalesce(sum(r.cost_usd), 0)`,
  ),
];

/** By key, the states of the calls that asked for it. */
async function keysOf(db: Database, { customerId }: Workload, tool: string): Promise<Map<string, string[]>> {
  const rows = await db.rows<{ key: string; statuses: string[] }>(sql`
    select arguments ->> 'key' as key, array_agg(status::text) as statuses from run_tool_calls
    where customer_id = ${customerId} and tool = ${tool} group by 1`);
  return new Map(rows.map(({ key, statuses }) => [key, statuses]));
}

/** One current artifact a phase, one open attempt a step, costs that add up. */
async function projectsAreSound({ db, workload: { customerId } }: InvariantOptions): Promise<string[]> {
  const projects = await db.rows<{ id: string }>(sql`select id from projects where customer_id = ${customerId}`);
  const found: string[] = [];
  for (const { id } of projects) found.push(...(await faultsOf(db, id)).map((fault) => `project ${id}: ${fault}`));
  return found;
}

export async function summaryOf({ db, workload, sink }: InvariantOptions): Promise<Record<string, number | string>> {
  const { customerId, accepted, refused, calls, person } = workload;
  const row = first(
    await db.rows<Record<string, number>>(sql`
    select (select count(*)::int from runs where customer_id = ${customerId}) as runs,
      (select count(*)::int from runs where customer_id = ${customerId} and status = 'succeeded') as succeeded,
      (select count(*)::int from runs where customer_id = ${customerId} and status = 'failed') as failed,
      (select count(*)::int from runs where customer_id = ${customerId} and status = 'cancelled') as cancelled,
      (select count(*)::int from projects where customer_id = ${customerId} and status = 'completed') as completed,
      (select count(*)::int from projects where customer_id = ${customerId} and status = 'abandoned') as abandoned,
      (select count(*)::int from webhook_deliveries where customer_id = ${customerId} and status = 'delivered') as delivered,
      (select count(*)::int from wallet_ledger where customer_id = ${customerId} and kind = 'run') as charges`),
  );
  const { runs, succeeded, failed, cancelled, completed, abandoned, delivered, charges } = row;
  const { outsideFaults, duringFaults, longestMs } = calls;
  return {
    'runs answered 201': accepted.runs.size,
    'projects answered 201': accepted.projects.size,
    'runs ended': `${runs}, of which ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled`,
    'projects ended': `${completed} completed, ${abandoned} given up`,
    'answered 502 or 507': refused.size,
    'repeatable calls': `${sink.puts.size} keys, ${[...sink.puts.values()].filter(({ times }) => times > 1).length} seen again`,
    'unrepeatable calls': sink.posts.size,
    'webhooks delivered': present(delivered),
    'wallet charges': present(charges),
    'payments credited': workload.paid.size,
    'gates answered': `${person.did.gatesByApi} by the API, ${person.did.gatesBySignal} by a signal`,
    'steps retried by a person': person.did.retried,
    'calls outside faults': `${outsideFaults.good} of ${outsideFaults.made} good`,
    'calls during faults': `${duringFaults.good} of ${duringFaults.made} good`,
    'longest answer': `${Math.round(longestMs)} ms`,
  };
}

/** Of the calls outside of faults, for `Outcome.successRate`. */
export const successRateOf = ({ calls: { outsideFaults } }: Workload): number =>
  outsideFaults.made === 0 ? 0 : outsideFaults.good / outsideFaults.made;
