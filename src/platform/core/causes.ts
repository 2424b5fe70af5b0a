/** Errors wrap each other: libraries wrap what they met, and so does the service. These functions look inside. */

/** No real chain is as long as this; the limit ends one that contains itself. */
const MAX_CAUSES = 32;

/** Yields the error, then its cause, then the cause of that, and so on. */
export function* causesOf(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    yield cause;
    cause = cause.cause;
  }
}

const isErrorLike = (thrown: unknown): thrown is Error =>
  typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string';

/** @returns what was thrown, as an error; those of other realms and threads are some, too. Of anything else its text */
export const errorOf = (thrown: unknown): Error => (isErrorLike(thrown) ? thrown : new Error(String(thrown)));

export const messageOf = (thrown: unknown): string => errorOf(thrown).message;

/** @returns what Node and libraries know an error by, `ENOENT` or `23505`; undefined where it has no such code */
export const errorCodeOf = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined;

/** @returns the innermost error, with which it all began; undefined where the value is no error */
export const rootOf = (error: unknown): Error | undefined => [...causesOf(error)].at(-1);

/**
 * @returns code and message of the innermost error, or '' where there is none. It is asked for because `fetch failed`
 * tells nothing and its cause does.
 */
export function rootInWords(error: unknown): string {
  const root = rootOf(error);
  return [errorCodeOf(root), root?.message].filter((part) => part !== undefined && part !== '').join(': ');
}
