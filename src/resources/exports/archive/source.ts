/** Reads a workspace as it was at one moment. */
import { sql, type SQL } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { workspaceOf } from '../../workspaces/store/fragments.ts';
import { TENANT_DATA } from '../../tenant-data.ts';
import type { SecretPlace, Workspace } from './manifest.ts';

export type ArchiveSource = ReturnType<typeof createArchiveSource>;

/** So many bytes of rows are read at a time, as far as the last ones let one guess. */
const FETCH_BYTES = 2 * 1024 * 1024;
const MAX_FETCH = 1_024;
const FIRST_FETCH = 16;

interface SourceOptions {
  /** Nobody else is answered while a transaction is open. */
  isOnlyConnection: boolean;
}

/** What is read in a snapshot. */
interface Reading<F> {
  /** Each has a column `line`. */
  statements: readonly SQL[];
  /** This little is read at once, in the same snapshot. It asks nothing but the database. */
  facts: () => Promise<F>;
}

/** Gives the lines of the next statement, a page at a time. Each is read to its end before the next one. */
export type NextLines = () => AsyncGenerator<string[]>;

interface Row {
  place: number;
  line: string;
}

export function createArchiveSource(db: Database, { isOnlyConnection }: SourceOptions) {
  const inTurn = createTurns();

  const inOneTransaction = <F, T>(
    { statements, facts }: Reading<F>,
    work: (facts: F, next: NextLines) => Promise<T>,
  ): Promise<T> =>
    db.outermostTransaction(async () => {
      await db.rows(sql`set transaction isolation level repeatable read, read only`);
      const known = await facts();
      await db.rows(sql`declare archive_lines no scroll cursor for ${allOf(statements)}`);
      return work(known, linesFrom(db));
    });

  /** The cursor outlives the transaction with all rows of it, so that others are answered between two pages. */
  const inHeldCursor = <F, T>(
    { statements, facts }: Reading<F>,
    work: (facts: F, next: NextLines) => Promise<T>,
  ): Promise<T> =>
    // It belongs to the session, which all that this process reads has in common.
    inTurn(async () => {
      const known = await db.outermostTransaction(async () => {
        await db.rows(sql`set transaction isolation level repeatable read, read only`);
        const found = await facts();
        await db.rows(sql`declare archive_lines no scroll cursor with hold for ${allOf(statements)}`);
        return found;
      });
      try {
        return await work(known, linesFrom(db));
      } finally {
        // It is gone already where the connection was.
        await db.rows(sql`close archive_lines`).catch(() => {});
      }
    });

  return {
    /** Everything that it gives is as it was when it began, whatever is written meanwhile. */
    inSnapshot: isOnlyConnection ? inHeldCursor : inOneTransaction,
    ...factsOf(db),
  };
}

/** One after another. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** A cursor's rows come in the order of the statements, since nothing sorts them or reads them in parallel. */
const allOf = (statements: readonly SQL[]): SQL =>
  sql.join(
    statements.map((statement, place) => sql`select ${sql.raw(String(place))} as place, line from (${statement}) s`),
    sql` union all `,
  );

function linesFrom(db: Database): NextLines {
  let ahead: Row[] = [];
  let count = FIRST_FETCH;
  let isOver = false;
  let place = -1;
  const fetch = async (): Promise<void> => {
    const rows = await db.rows<Row>(sql`fetch forward ${sql.raw(String(count))} from archive_lines`);
    isOver = rows.length < count;
    if (rows.length > 0) count = nextFetch(rows);
    ahead = rows;
  };
  return async function* () {
    place += 1;
    for (;;) {
      if (ahead.length === 0 && !isOver) await fetch();
      const end = ahead.findIndex((row) => row.place !== place);
      const lines = end < 0 ? ahead : ahead.slice(0, end);
      ahead = end < 0 ? [] : ahead.slice(end);
      if (lines.length > 0) yield lines.map(({ line }) => line);
      if (ahead.length > 0 || isOver) return;
    }
  };
}

const secretsOf = (customerId: string): SQL =>
  sql.join(
    Object.values(TENANT_DATA).flatMap(({ secrets }) => (secrets ? [secrets(customerId)] : [])),
    sql` union all `,
  );

const factsOf = (db: Database) => ({
  async now(): Promise<string> {
    const { now } = first(
      await db.rows<{ now: string }>(
        sql`select to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
      ),
    );
    return now;
  },

  async workspace(customerId: string): Promise<Workspace> {
    const [row] = await db.rows<Workspace>(sql`
      select identity_workspace_id, ${customerId} as customer_id, plan::text as plan, config,
        to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
      from ${workspaceOf(customerId)} w`);
    return found(row);
  },

  /** Where the workspace has secrets that do not go out. */
  secretPlaces: (customerId: string) =>
    db.rows<Omit<SecretPlace, 'field'> & { field: string | null }>(sql`
      select kind, name, field from (${secretsOf(customerId)}) secrets(kind, name, field) order by 1, 2, 3`),
});

/** A power of two, as each text of a statement is prepared once. */
function nextFetch(rows: readonly Row[]): number {
  const average = rows.reduce((sum, { line }) => sum + line.length, 0) / rows.length;
  const fitting = Math.max(1, Math.min(MAX_FETCH, FETCH_BYTES / average));
  return 2 ** Math.floor(Math.log2(fitting));
}
