/**
 * Reads JSON that somebody else wrote. Reading is safe at any depth, but what walks the value afterwards (checks,
 * copies, the way into the database) calls itself for each level and would run out of stack in the middle of something.
 * Each door therefore refuses what is deeper than anybody needs, and it does so here and nowhere else.
 */
import { isRecord } from './record.ts';

/** The depth counts objects and lists that lie within one another. */
export const MAX_JSON_DEPTH = 64;
export const TOO_DEEP = `nested deeper than ${MAX_JSON_DEPTH} levels`;

export class JsonDepthError extends Error {
  override name = 'JsonDepthError';
  override message = `the JSON is ${TOO_DEEP}`;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** It goes level by level instead of calling itself, so that no depth can exhaust its stack. */
export function isTooDeep(root: unknown): boolean {
  let level = [root].filter(isContainer);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === MAX_JSON_DEPTH) return true;
    const next: object[] = [];
    for (const container of level)
      for (const child of Object.values(container)) if (isContainer(child)) next.push(child);
    level = next;
  }
  return false;
}

/** @throws SyntaxError, JsonDepthError */
export function parseJson(text: string): unknown {
  // eslint-disable-next-line no-restricted-syntax -- the one place
  const value: unknown = JSON.parse(text);
  if (isTooDeep(value)) throw new JsonDepthError();
  return value;
}

/** @returns the value; undefined where the text is no JSON, or too deep */
export function parsedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Equal values get the same text, however their fields are ordered; a field without a value is none. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  ) ?? '';

/**
 * @returns whether the value has more than so many characters, counting names of fields and a few for each value; it
 * looks no further than that
 */
export function isLargerThan(characters: number, root: unknown): boolean {
  let left = characters;
  const open: unknown[] = [root];
  while (open.length > 0 && left >= 0) {
    const value = open.pop();
    left -= typeof value === 'string' ? value.length : 4;
    if (!isContainer(value)) continue;
    const entries = Object.entries(value);
    left -= entries.length;
    if (left < 0) break;
    for (const [name, child] of entries) {
      left -= name.length;
      open.push(child);
    }
  }
  return left < 0;
}
