/** What Postgres can keep of a text from outside: it takes neither NUL nor half of a surrogate pair. */

export const storableText = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/** The same for every text in a JSON value, the names of its fields included. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [storableText(name), storable(part)]));
}
