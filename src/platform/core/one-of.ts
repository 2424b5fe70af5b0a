/** Imports nothing: models use it, and through them the workflows. @returns whether the value is one of these words */
export const isOneOf = <Word extends string>(words: readonly Word[], value: unknown): value is Word =>
  words.some((word) => word === value);
