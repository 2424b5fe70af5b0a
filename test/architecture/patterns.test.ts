/**
 * The lint rules against what stops a process (patterns that take more than linear time, calls that return late) or waits by
 * a clock that is set: that they are on, and see what once got past.
 */
import { beforeAll, expect, test } from '@jest/globals';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { brokenRules } from '../support/architecture/lint.ts';

/** Each of these stalled the whole process on one text that a tenant, a model or a stranger had written, or could. */
const SLOW = [
  String.raw`/^\s*(?:#{1,6}\s+(?<title>.+?)\s*$|<(?<tag>[a-z][\w-]*)[^>]*>\s*$)/i.test(text)`,
  String.raw`/^\s*(?:url\(\s*["']?)?#([^"')\s]+)["']?\s*\)?\s*$/.exec(text)`,
  String.raw`text.replace(/<(?=\s*\/?\s*memory)/gi, '&lt;')`,
  String.raw`text.replaceAll(/<memory\b[^]*?<\/memory>/g, '')`,
  String.raw`text.replace(/\s+$/, '')`,
  String.raw`text.replace(/\/+$/, '')`,
  String.raw`/^(a+)+$/.test(text)`,
];
/** What is in use instead of them. */
const LINEAR = [
  String.raw`text.replace(/(?<!\/)\/+$/, '')`,
  String.raw`text.replace(/<(?=\s*(?:\/\s*)?memory)/gi, '&lt;')`,
  String.raw`/^(?:#{1,6}\s+(?<title>\S.*)|<(?<tag>[a-z][\w-]*)(?:[^\w>-][^>]*)?>)$/i.test(text)`,
];
/** What no rule can look at: patterns from a variable, JSON of any depth. */
const OPAQUE = ['new RegExp(text).test(text)', 'JSON.parse(text)'];

/** The rules that each of these breaks in a file of that folder. */
async function lint(code: readonly string[], folder: string): Promise<Map<string, string[]>> {
  const rules = await brokenRules(code, `${folder}/index.ts`);
  return new Map(code.map((line, at) => [line, itemAt(rules, at)]));
}

/** What makes everybody wait, and what waits for the wrong clock. */
const WAITING = ["readFileSync('a')", "zlib.gzipSync('a')", "execFileSync('a')", 'Date.now() > 5', '5 >= Date.now()'];

let found: Map<string, string[]>;
beforeAll(async () => {
  found = await lint([...SLOW, ...LINEAR, ...OPAQUE, ...WAITING], 'src/resources');
});

// Guards: a regular expression of this dangerous kind does not come back.
test.each(SLOW)('%s is refused', (code) => {
  expect(present(found.get(code)).filter((rule) => /^(regexp|redos)\//.test(rule))).not.toEqual([]);
});

// Guards: the rules still allow harmless expressions.
test.each(LINEAR)('%s is taken', (code) => {
  expect(found.get(code)).toEqual([]);
});

// Guards: one request that stops the process for all others; a wait that is over, or never is, as a clock was set.
test.each(WAITING)('%s is refused', (code) => {
  expect(found.get(code)).toContain('no-restricted-syntax');
});

// Guards: an expression that cannot be judged is refused.
test('what no rule can look at is refused, in workflows too', async () => {
  for (const code of OPAQUE) expect(found.get(code)).toEqual(['no-restricted-syntax']);
  expect((await lint(OPAQUE, 'workflows')).get('new RegExp(text).test(text)')).toEqual(['no-restricted-syntax']);
});
