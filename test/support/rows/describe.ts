/** A value as a type of TypeScript, the narrowest: texts and truths are literals, numbers are not. */

/** Longer texts are no names. */
const MAX_LITERAL = 60;
const MAX_ELEMENTS = 50;
const MAX_DEPTH = 8;

export function describeValue(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return value.length <= MAX_LITERAL ? JSON.stringify(value) : 'string';
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return typeof value;
  if (value instanceof Date) return 'Date';
  if (value instanceof Uint8Array) return 'Buffer';
  if (depth === MAX_DEPTH) return 'any';
  if (Array.isArray(value)) {
    const elements = new Set(value.slice(0, MAX_ELEMENTS).map((element) => describeValue(element, depth + 1)));
    return `(${[...elements].join(' | ') || 'never'})[]`;
  }
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${describeValue(member, depth + 1)}`,
  );
  return `{ ${members.join('; ')} }`;
}
