/** By the name of a field, its sentences: each is used once in a result, in this order. */
export type Stock = Readonly<Record<string, readonly string[]>>;
