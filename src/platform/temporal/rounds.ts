/** A chore of housekeeping that looks after rows of all workspaces: what is due, in turn, for as long as it has. */
import type { Taken, Turn } from '../db/in-turn.ts';
import { sideBySide } from './side-by-side.ts';

/** How long one look may take. What is left is for the next, which goes on with the workspace that is next. */
const BUDGET_MS = 10_000;
const WORKSPACES = 20;
/** Of one workspace, before the others have their turn. */
const EACH = 5;

export interface Rounds<Row> {
  take: (turn: Turn) => Promise<Taken>;
  /** Of what was taken, what is there to be done. */
  load: (ids: readonly string[]) => Promise<Row[]>;
  /** A failure is told to `failed` and keeps nobody else waiting. */
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
      // Through with all workspaces, from the first to the last, and none had anything.
      if (isWhole && found === 0) break;
      isWhole = true;
      found = 0;
    }
    return handled;
  };
}
