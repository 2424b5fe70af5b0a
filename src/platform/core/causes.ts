/** Errors wrap each other: libraries do it with what they met, and so do we. */

/** Deeper than any is; one that is its own cause has an end here. */
const MAX_CAUSES = 32;

/** The error, what caused it, what caused that, and so on. */
export function* causesOf(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    yield cause;
    cause = cause.cause;
  }
}

/** What it all began with. */
export const rootOf = (error: unknown): Error | undefined => [...causesOf(error)].at(-1);

/** Code and words of what it all began with; '' where there are none. `fetch failed` says nothing, its cause does. */
export function rootInWords(error: unknown): string {
  const { code, message } = (rootOf(error) ?? {}) as { code?: unknown; message?: unknown };
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}
