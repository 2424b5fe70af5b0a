/**
 * Reads of the log. Transactions commit out of the order in which they began, so a reader takes only what is below the
 * horizon: the oldest transaction that is still writing, anywhere on the database server. Below it nothing can come any
 * more, so whoever goes on from there has missed nothing and meets nothing twice.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { EventKind, Place } from '../model.ts';
import { workspaceOf } from '../../workspaces/store/fragments.ts';

export type EventLogStore = ReturnType<typeof createEventLogStore>;

/** Says which events of a workspace are followed; without anything, all of them. */
export interface EventFilter {
  kinds?: readonly EventKind[] | undefined;
  runId?: string | undefined;
  /** Selects the project's own events, and those of its steps' runs. */
  projectId?: string | undefined;
}

export interface LogRow extends Place {
  kind: EventKind;
  customerId: string;
  ts: string;
  topic: string;
  runId: string | null;
  projectId: string | null;
  /** The event as its own list shows it. */
  data: Record<string, unknown>;
}

/** The row that comes with the horizon, where there is no event below it. */
type NoRow = { [Column in keyof LogRow]: null };

export interface LogPage {
  /** In their order. */
  rows: LogRow[];
  /** Everything after the rows and before this place has been read: whoever has taken the page goes on here. */
  next: Place;
}

interface Reading {
  after: Place;
  /** The last place to read; without it, up to the horizon. */
  until?: Place;
  limit: number;
}

/** A part of the log: one table, read as rows of the shape that all parts share. */
interface Part {
  kinds: readonly EventKind[] | undefined;
  select: SQL;
  /** The table is called `e`, and everything else is joined to it. */
  from: SQL;
  ofRun: SQL | undefined;
  ofProject: SQL;
}

/** A row `e` of a timeline, of the run `r`, as the log and the timeline itself show it. */
export const RUN_EVENT = sql`jsonb_build_object('id', e.id, 'ts', e.ts, 'event_type', e.event_type, 'agent', r.agent,
  'transport', r.transport, 'duration_ms', e.duration_ms, 'cost_usd', e.cost_usd::text, 'status', e.status,
  'payload', e.payload)`;

const LOGGED = sql`e.kind, e.topic, e.run_id as "runId", e.project_id as "projectId",
  case when e.kind = 'run' then e.payload
    else jsonb_build_object('id', e.subject, 'ts', e.ts, 'topic', e.topic, 'payload', e.payload) end as data`;

const partsOf = (owner: SQL, { runId, projectId, kinds }: EventFilter): Part[] => {
  const parts: Part[] = [
    {
      kinds: ['run'],
      select: sql`'run'::text as kind, e.event_type::text as topic, e.run_id as "runId", r.step ->> 'projectId' as "projectId",
        ${RUN_EVENT} as data`,
      from: sql`run_events e join runs r on r.id = e.run_id and r.customer_id = e.customer_id`,
      ofRun: sql`e.run_id = ${runId}`,
      ofProject: sql`e.run_id in (
        select a.child_run_id from attempts a where a.project_id = ${projectId} and a.customer_id = ${owner})`,
    },
    {
      kinds: ['project'],
      select: sql`'project'::text as kind, e.topic, null::text as "runId", e.project_id as "projectId",
        jsonb_build_object('id', e.id, 'ts', e.ts, 'project_id', e.project_id, 'task_id', e.task_id,
          'subtask_id', e.subtask_id, 'attempt_number', e.attempt_number, 'level', e.level, 'category', e.category,
          'topic', e.topic, 'actor_kind', e.actor_kind, 'actor_id', e.actor_id, 'payload_jsonb', e.payload,
          'trace_id', e.trace_id) as data`,
      from: sql`project_events e`,
      ofRun: undefined,
      ofProject: sql`e.project_id = ${projectId}`,
    },
    {
      kinds: undefined,
      select: LOGGED,
      from: sql`log_events e`,
      ofRun: sql`e.run_id = ${runId}`,
      ofProject: sql`e.project_id = ${projectId}`,
    },
  ];
  const isLogged = (kind: EventKind): boolean => kind !== 'run' && kind !== 'project';
  const isAskedForLogged = kinds === undefined || kinds.some(isLogged);
  // Where the log's own table is read for other kinds too, that part has these events with it.
  if (!isAskedForLogged) {
    parts.push({
      kinds: ['run'],
      select: LOGGED,
      from: sql`(select * from log_events where kind = 'run') e`,
      ofRun: sql`e.run_id = ${runId}`,
      ofProject: sql`e.project_id = ${projectId}`,
    });
  }
  return parts.filter(
    (part) =>
      (runId === undefined || part.ofRun !== undefined) &&
      (kinds === undefined || (part.kinds?.some((kind) => kinds.includes(kind)) ?? isAskedForLogged)),
  );
};

const conditionsOf = (part: Part, { runId, projectId, kinds }: EventFilter): SQL => sql`
  ${runId === undefined ? sql`` : sql`and ${present(part.ofRun)}`}
  ${projectId === undefined ? sql`` : sql`and ${part.ofProject}`}
  ${kinds === undefined || part.kinds ? sql`` : sql`and e.kind = any(${sql.param([...kinds])}::text[])`}`;

export const createEventLogStore = (db: Database) => {
  async function read(owner: SQL, filter: EventFilter, { after, until, limit }: Reading): Promise<LogPage> {
    const parts = partsOf(owner, filter).map(
      (part) => sql`(
        select ${part.select}, e.customer_id as "customerId", e.ts::text as ts, e.tx, e.seq from ${part.from}
        where e.customer_id = ${owner} and (e.tx, e.seq) > (${after.tx}::bigint, ${after.seq}::bigint)
          and (e.tx, e.seq) <= (select tx, seq from horizon) ${conditionsOf(part, filter)}
        order by e.tx, e.seq limit ${limit})`,
    );
    const horizon = until
      ? sql`select ${until.tx}::bigint as tx, ${until.seq}::bigint as seq`
      : sql`select event_horizon() as tx, 0::bigint as seq`;
    const read = await db.rows<{ horizon: number } & (LogRow | NoRow)>(sql`
      with horizon as materialized (${horizon})
      select horizon.tx::float8 as horizon, event.kind, event.topic, event."runId", event."projectId", event.data,
        event."customerId", event.ts, event.tx::float8 as tx, event.seq::float8 as seq
      from horizon left join lateral (
        select * from (${sql.join(parts, sql` union all `)}) part order by tx, seq limit ${limit}) event on true
      order by event.tx, event.seq`);
    const rows = read.flatMap(({ horizon: _, ...row }) => (row.kind === null ? [] : [row]));
    const last = rows.at(-1);
    return {
      rows,
      next:
        last && rows.length === limit ? { tx: last.tx, seq: last.seq } : (until ?? { tx: first(read).horizon, seq: 0 }),
    };
  }

  return {
    /** @returns where the log of every workspace ends now; what is not below it is yet to come */
    async end(): Promise<Place> {
      const row = first(await db.rows<{ tx: number }>(sql`select event_horizon()::float8 as tx`));
      return { tx: row.tx, seq: 0 };
    },

    /**
     * The same, as a place to go on from later. A crash of the database takes back numbers of transactions of which nothing was on
     * the disk, and then gives them again: what those write would stand before a place beyond them, and never be seen. The
     * message, which nobody reads, has this transaction wait for the disk, and with it all whose numbers are lower.
     */
    async lastingEnd(): Promise<Place> {
      const row = first(
        await db.rows<{ tx: number }>(sql`
          select event_horizon()::float8 as tx from pg_logical_emit_message(true, 'end of the log', '') written`),
      );
      return { tx: row.tx, seq: 0 };
    },

    /** Reads a page of one workspace's log. */
    readPage: (customerId: string, filter: EventFilter, reading: Reading): Promise<LogPage> =>
      read(sql`${customerId}`, filter, reading),

    /** Reads what is new of these workspaces, in one statement for all of them. */
    readTail: (customerIds: readonly string[], reading: Reading): Promise<LogPage> =>
      read(sql`any(${sql.param([...customerIds])}::text[])`, {}, reading),

    /** @returns the first transaction from which on everything is kept; some of what was before is gone */
    async keptFrom(customerId: string): Promise<number> {
      const [row] = await db.rows<{ tx: number }>(
        sql`select events_from::float8 as tx from ${workspaceOf(customerId)} w`,
      );
      return row?.tx ?? 0;
    },
  };
};

/**
 * Is called before a process writes or reads events. The order goes on where it stood, also in a copy of the database
 * on a server whose transactions have lower numbers than those that wrote what is there.
 */
export const continueEventOrder = (db: Database): Promise<unknown> => db.rows(sql`select continue_event_order()`);
