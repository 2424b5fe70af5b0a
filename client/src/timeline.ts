/**
 * Yields what happened to one thing, and then what happens: first its list, then the stream of the workspace from a
 * moment before the list was read, so that nothing is missed between them. The rows have numbers that grow, so a row
 * that is in both is yielded once.
 */
import type { Connection } from './connection.ts';
import { followLive, type LiveFilter, type LiveItem, type TextPiece } from './live.ts';
import { hasNoStream } from './stream.ts';

interface Row {
  id: number;
}

export interface Timeline<T extends Row> {
  /** The part of the stream that belongs to the thing. */
  filter: Pick<LiveFilter, 'runId' | 'projectId' | 'kinds'>;
  rowOf: (item: LiveItem) => T | undefined;
  /**
   * Lists rows, oldest first.
   * - `isAll` is false where there may be rows that it could not list
   * - `isOver` says that no rows follow these
   */
  list: (signal?: AbortSignal) => Promise<{ rows: T[]; isAll: boolean; isOver: boolean }>;
  /** Tells whether this may be the last row; the list then tells whether it is. */
  mayBeLast: (row: T) => boolean;
  /** Yields rows where there is no stream. */
  poll: (seen: number, signal?: AbortSignal) => AsyncGenerator<T>;
}

export type TimelineUpdate<T> = { kind: 'event'; event: T } | { kind: 'text'; piece: TextPiece };

/**
 * Yields each row once, in order, until there are no more to come, and between them what models write, where that is
 * wanted.
 */
export async function* followTimeline<T extends Row>(
  connection: Pick<Connection, 'transport' | 'request'>,
  { filter, rowOf, list, mayBeLast, poll }: Timeline<T>,
  { signal, text = false }: { signal: AbortSignal | undefined; text?: boolean | undefined },
): AsyncGenerator<TimelineUpdate<T>> {
  let seen = 0;
  const fresh = (rows: readonly T[]): TimelineUpdate<T>[] => {
    const news = rows.filter(({ id }) => id > seen);
    seen = news.at(-1)?.id ?? seen;
    return news.map((event) => ({ kind: 'event', event }));
  };
  /** Set where the list cannot have all rows. The log is then read from its beginning. */
  let after: string | undefined;
  for (;;) {
    try {
      for await (const item of followLive(connection, { ...filter, signal, after, text })) {
        if (item.kind === 'text') yield { kind: 'text', piece: pieceOf(item) };
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
      for await (const event of poll(seen, signal)) yield { kind: 'event', event };
      return;
    }
  }
}

const pieceOf = ({ kind: _, ...piece }: { kind: 'text' } & TextPiece): TextPiece => piece;
