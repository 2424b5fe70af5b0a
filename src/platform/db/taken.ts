/** A unique index decides which name is taken: whoever comes second is told so, however close the two are. */
import { Problem } from '../core/problem.ts';

/**
 * @param index the unique index that refuses the name
 * @param what the message for the second one
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
