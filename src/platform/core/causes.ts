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

/** @returns the innermost error, with which it all began; undefined where the value is no error */
export const rootOf = (error: unknown): Error | undefined => [...causesOf(error)].at(-1);

/**
 * @returns code and message of the innermost error, or '' where there is none. It is asked for because `fetch failed`
 * tells nothing and its cause does.
 */
export function rootInWords(error: unknown): string {
  const { code, message } = (rootOf(error) ?? {}) as { code?: unknown; message?: unknown };
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}
