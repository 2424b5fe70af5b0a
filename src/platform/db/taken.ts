/** Names that are unique by an index of the table: who comes second is told so, however close the two are. */
import { Problem } from '../core/problem.ts';

/**
 * @param index the unique index that says a name is taken
 * @param what is told then
 * @throws Problem name_taken
 */
export async function unlessTaken<T>(index: string, what: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if ((cause as { constraint?: string }).constraint !== index) throw error;
    throw new Problem('name_taken', what);
  }
}
