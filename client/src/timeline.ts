/**
 * What happened to one thing, and then what happens: its list, and the stream of the workspace from a moment before the list was
 * read, so that nothing is between them. What is in both is told once, as its rows have numbers that grow.
 */
import type { Connection } from './connection.ts';
import { isProblem } from './errors.ts';
import { followLive, NoStreamError, type LiveFilter, type LiveItem } from './live.ts';

interface Row {
  id: number;
}

export interface Timeline<T extends Row> {
  /** Of the stream, what belongs to the thing. */
  filter: Pick<LiveFilter, 'runId' | 'projectId' | 'kinds'>;
  rowOf: (item: LiveItem) => T | undefined;
  /**
   * Oldest first.
   * - `isAll` is false where there may be rows that it could not list
   * - `isOver`: nothing comes after these
   */
  list: (signal?: AbortSignal) => Promise<{ rows: T[]; isAll: boolean; isOver: boolean }>;
  /** Whether it may have come to its end with this row: the list says so. */
  mayBeLast: (row: T) => boolean;
  /** Where there is no stream. */
  poll: (seen: number, signal?: AbortSignal) => AsyncGenerator<T>;
}

/** Each row once, in order, until there is nothing to come. */
export async function* followTimeline<T extends Row>(
  connection: Pick<Connection, 'transport' | 'request'>,
  { filter, rowOf, list, mayBeLast, poll }: Timeline<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  let seen = 0;
  const fresh = (rows: readonly T[]): T[] => {
    const news = rows.filter(({ id }) => id > seen);
    seen = news.at(-1)?.id ?? seen;
    return news;
  };
  /** Set where the list cannot tell all: then the log does, from its beginning. */
  let after: string | undefined;
  for (;;) {
    try {
      for await (const item of followLive(connection, { ...filter, signal, after })) {
        const row = rowOf(item);
        if (row) yield* fresh([row]);
        const isToList = (item.kind === 'open' && after === undefined) || (row !== undefined && mayBeLast(row));
        if (!isToList) continue;
        const { rows, isAll, isOver } = await list(signal);
        if (!isAll && after === undefined) break;
        yield* fresh(rows);
        if (isOver) return;
      }
      after = '0';
    } catch (error) {
      if (!hasNoStream(error)) throw error;
      yield* poll(seen, signal);
      return;
    }
  }
}

/** An earlier service, or one that has no place for another listener. */
const hasNoStream = (error: unknown): boolean =>
  error instanceof NoStreamError || isProblem(error, 'not_found', 'too_many_streams');
