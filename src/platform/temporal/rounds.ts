/**
 * Makes chores of housekeeping that look after rows of all workspaces: they handle what is due, in turn, for as long as
 * a round has time.
 */
import type { Taken, Turn } from '../db/in-turn.ts';
import { sideBySide } from './side-by-side.ts';

/** One round may take this long. What is left is for the next, which goes on with the workspace that is next. */
const BUDGET_MS = 10_000;
const WORKSPACES = 20;
/** So many rows of one workspace are handled before the others have their turn. */
const EACH = 5;

export interface Rounds<Row> {
  take: (turn: Turn) => Promise<Taken>;
  /** @returns those of the taken rows for which something is to be done */
  load: (ids: readonly string[]) => Promise<Row[]>;
  /** Where it throws, `failed` is told, and the other rows go on. */
  handle: (row: Row) => Promise<unknown>;
  failed: (error: unknown, row: Row) => void;
  budgetMs?: number;
}

/** @returns the chore, which gives how many rows it handled */
export function createRounds<Row>({ take, load, handle, failed, budgetMs = BUDGET_MS }: Rounds<Row>) {
  let after = '';

  return async (signal: AbortSignal): Promise<number> => {
    const until = performance.now() + budgetMs;
    const isOver = () => signal.aborted || performance.now() > until;
    let handled = 0;
    let isWhole = after === '';
    for (let found = 0; !isOver();) {
      const { ids, last } = await take({ after, workspaces: WORKSPACES, each: EACH });
      if (ids.length > 0) {
        const rows = await load(ids);
        const attempt = (row: Row) => handle(row).catch((error: unknown) => failed(error, row));
        await sideBySide(rows, attempt, isOver);
        handled += rows.length;
      }
      found += ids.length;
      after = last ?? '';
      if (last !== undefined) continue;
      // The round went through all workspaces, from the first to the last, and found nothing.
      if (isWhole && found === 0) break;
      isWhole = true;
      found = 0;
    }
    return handled;
  };
}
