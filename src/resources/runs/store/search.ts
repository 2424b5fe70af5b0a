/**
 * Finding runs. A page walks one index backwards and looks at so many rows at most, whatever is asked: what is rare, or is
 * no part of an index, comes a page after another instead of after a walk over everything.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first, itemAt } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { countsOf } from '../../tallies/store.ts';
import { isSampleRun } from './queries.ts';
import type { RunFilters } from '../views/contract.ts';
import { RUN_STATUSES, type RunStatus } from '../model.ts';
import { OPEN_RUN } from './statuses.ts';

/** A page looks at so many rows, where what is asked for is no part of an index. */
const LOOKED_AT = 1_000;
/** So many characters of a prompt are searched. */
const SEARCHED = 2_000;

export interface FoundRun {
  run_id: string;
  parent_run_id: string | null;
  project_id: string | null;
  agent: string | null;
  transport: string;
  status: RunStatus;
  prompt: string;
  error: string | null;
  model: string | null;
  sample: boolean;
  cost_usd: string;
  is_priced: boolean;
  event_count: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
}

/** Its columns are null where no run was found; the row then tells only how far the search has looked. */
type FoundRow = { [Column in keyof FoundRun]: FoundRun[Column] | null } & {
  looked_at: number;
  last: string | null;
  is_past: boolean;
};

interface RunPage {
  limit: number;
  /** With an id here only older runs are found. */
  before?: string | undefined;
}

/** The statuses are written out, so that the planner sees which partial index serves them. */
const STATUS = Object.fromEntries(
  RUN_STATUSES.map((status) => [status, sql.raw(`and r.status = '${status}'`)]),
) as Record<RunStatus, SQL>;

const NOTHING = sql``;
const all = (conditions: readonly SQL[]): SQL => sql.join([...conditions], sql` `);
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

export async function searchRuns(
  db: Database,
  customerId: string,
  { q, status, agent, transport, since_hours: hours, from, to, min_cost_usd: minUsd }: RunFilters,
  { limit, before }: RunPage,
): Promise<{ rows: FoundRun[]; next: string | null }> {
  const indexed = all([
    sql`r.customer_id = ${customerId}`,
    status === undefined ? NOTHING : STATUS[status],
    agent === undefined ? NOTHING : sql`and r.agent = ${agent}`,
    transport === undefined ? NOTHING : sql`and r.transport = ${transport}`,
    before === undefined
      ? NOTHING
      : sql`and r.seq < (select seq from runs where id = ${before} and customer_id = ${customerId})`,
  ]);
  const starts = [
    ...(hours === undefined ? [] : [sql`now() - make_interval(hours => ${hours})`]),
    ...(from === undefined ? [] : [sql`${from.toISOString()}::timestamptz`]),
  ];
  const since = sql`greatest(${sql.join(starts, sql`, `)})`;
  const conditions = [
    ...(starts.length === 0 ? [] : [sql`and created_at >= ${since}`]),
    ...(to === undefined ? [] : [sql`and created_at < ${to.toISOString()}::timestamptz`]),
    ...(minUsd === undefined ? [] : [sql`and cost_usd >= ${minUsd}::numeric`]),
    ...(q === undefined || q === ''
      ? []
      : [sql`and (id = lower(${q}) or left(prompt, ${SEARCHED}) ilike ${containing(q)})`]),
  ];
  const window = conditions.length === 0 ? limit : LOOKED_AT;
  const rows = await db.rows<FoundRow>(sql`
    with looked_at as materialized (
      select r.id, r.seq, r.created_at, r.cost_usd, r.prompt from runs r where ${indexed}
      order by r.seq desc limit ${window}
    ), found as (select id, seq from looked_at where true ${all(conditions)} order by seq desc limit ${limit}),
    ends as (
      select count(*)::int as looked_at, (array_agg(id order by seq))[1] as last,
        ${starts.length === 0 ? sql`false` : sql`coalesce(min(created_at) < ${since}, false)`} as is_past
      from looked_at)
    select ends.looked_at, ends.last, ends.is_past, r.id as run_id, r.parent_run_id, a.project_id, r.agent, r.transport, r.status,
      left(r.prompt, 200) as prompt, left(r.error, 200) as error, r.model,
      ${isSampleRun(sql`r.model_provider`)} as sample, r.cost_usd::text as cost_usd, r.is_priced, r.event_count, r.created_at, r.started_at, r.completed_at
    from ends left join found on true left join runs r on r.id = found.id and r.customer_id = ${customerId}
      left join attempts a on a.id = r.attempt_id and a.customer_id = r.customer_id
    order by r.seq desc`);
  const { looked_at: lookedAt, last, is_past: isPast } = first(rows);
  const found = rows.filter((row): row is FoundRow & FoundRun => row.run_id !== null);
  if (found.length === limit) return { rows: found, next: itemAt(found, -1).run_id };
  return { rows: found, next: lookedAt === window && !isPast ? last : null };
}

/** Counts runs that have ended from the tallies, the others by the index of what is in flight. */
export async function countByStatus(
  db: Database,
  customerId: string,
  agent: string | undefined,
): Promise<Record<RunStatus, number>> {
  const rows = await db.rows<{ status: RunStatus; total: number }>(sql`
    select status, sum(rows)::float8 as total from (
      select dims[2] as status, rows from ${countsOf({ list: 'run_outcomes', customerId, filter: { agent } })} ended
      union all
      select status::text, 1 from runs where customer_id = ${customerId} and status in ${OPEN_RUN}
        ${agent === undefined ? NOTHING : sql`and agent = ${agent}`}
    ) counted group by status`);
  const totals = Object.fromEntries(rows.map(({ status, total }) => [status, total]));
  return Object.fromEntries(RUN_STATUSES.map((status) => [status, totals[status] ?? 0])) as Record<RunStatus, number>;
}

/** The newest failed runs of a window, newest first, at most as many as a page looks at. */
export const listFailures = (db: Database, customerId: string, hours: number, agent: string | undefined) =>
  db.rows<{ run_id: string; agent: string | null; error: string; cost_usd: number; completed_at: string }>(sql`
    select run_id, agent, error, cost_usd, completed_at from (
      select r.id as run_id, r.seq, r.agent, left(coalesce(r.error, ''), ${SEARCHED}) as error, r.cost_usd::float8 as cost_usd,
        coalesce(r.completed_at, r.created_at) as completed_at, r.created_at
      from runs r where r.customer_id = ${customerId} ${STATUS.failed}
        ${agent === undefined ? NOTHING : sql`and r.agent = ${agent}`}
      order by r.seq desc limit ${LOOKED_AT}) newest
    where created_at >= now() - make_interval(hours => ${hours}) order by seq desc`);
