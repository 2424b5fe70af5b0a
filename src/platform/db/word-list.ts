/** Writes words of the code into a statement. */
import { sql, type SQL } from 'drizzle-orm';

/**
 * @returns a list for `in`. Its words are part of the text, because a partial index serves no statement that has them as
 * parameters
 */
export const wordList = (words: readonly string[]): SQL => sql.raw(`(${words.map((word) => `'${word}'`).join(', ')})`);
