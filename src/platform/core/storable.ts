/** @returns the text without what Postgres cannot store: NUL, and half of a surrogate pair */

export const storableText = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/** Does the same for every text in a JSON value, including the names of its fields. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [storableText(name), storable(part)]));
}
