/**
 * Tells whether a path means the same to everything that reads it. The router takes `..` and `%2e%2e%2f` for the value
 * of a parameter; something on the way to another process may take them for directions, and arrive elsewhere.
 */

/** No id is encoded more often than this. */
const MAX_ROUNDS = 4;
/**
 * A step to this or the upper folder, between slashes of either kind; to some servers what follows a semicolon is not
 * part of the name.
 */
const STEP = /(^|[/\\])\.{1,2}(;[^/\\]*)?(?=[/\\]|$)/;

/** Decodes byte by byte, as the most lenient reader would: what is not encoded rightly stays as it is. */
const decodeLeniently = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

export function isPlainPath(path: string): boolean {
  let text = path;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (STEP.test(text)) return false;
    const decoded = decodeLeniently(text);
    if (decoded === text) return true;
    text = decoded;
  }
  return false;
}
