/** JSON of somebody else: how deep it may be, at the doors that the generated tests of endpoints do not reach. */
import { expect, test } from '@jest/globals';
import { isLargerThan, isTooDeep, MAX_JSON_DEPTH, parseJson } from '../../../src/platform/core/json.ts';
import { checkValue, schemaProblem } from '../../../src/platform/core/json-schema.ts';
import { findingOf } from '../../../src/resources/projects/engine/finding.ts';
import { checkArguments } from '../../../src/resources/tools/arguments.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const inObjects = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const DEPTHS = [MAX_JSON_DEPTH + 1, 2_500, 100_000];

// Guards: the limit of depth is exact, and checking it does not recurse.
test('knows how deep a value is', () => {
  for (const text of [nested(MAX_JSON_DEPTH), inObjects(MAX_JSON_DEPTH), '1', 'null', '"x"']) {
    expect(isTooDeep(parseJson(text))).toBe(false);
  }
  for (const levels of DEPTHS) {
    for (const text of [nested(levels), inObjects(levels), `[1,{"b":2,"a":${nested(levels)}}]`]) {
      expect(() => parseJson(text)).toThrow('nested deeper than 64 levels');
    }
  }
  expect(() => parseJson('{')).toThrow(SyntaxError);
});

// Guards: values that may take long go to a thread; depth and breadth are counted without walking the whole value.
test('knows how large a value is', () => {
  expect(isLargerThan(10, 'x'.repeat(10))).toBe(false);
  expect(isLargerThan(10, 'x'.repeat(11))).toBe(true);
  expect(isLargerThan(1_000, { list: Array.from({ length: 1_000 }, () => 1) })).toBe(true);
  expect(isLargerThan(1_000, { ['x'.repeat(1_001)]: 1 })).toBe(true);
  expect(isLargerThan(1_000, JSON.parse(nested(100_000)))).toBe(true);
  expect(isLargerThan(1_000, { a: [1, 2, { b: 'c' }], n: null })).toBe(false);
});

// Guards: a value that is too deep for any check is refused, whatever its schema asks. The check once threw, and the
// step whose output it was settled again for ever.
test.each(DEPTHS)('%i levels are refused by every check', async (levels) => {
  const deep: unknown = JSON.parse(nested(levels));
  const schema = { type: 'array', uniqueItems: true };
  expect(checkValue(schema, [deep, 1], 'output')).toBe('output is nested deeper than 64 levels');
  expect(schemaProblem({ enum: deep as never })).toContain('nested deeper');
  const parameters = { type: 'object', properties: {} };
  expect(await checkArguments({ slug: 'lookup', parameters }, { deep })).toContain('nested deeper than 64 levels');
  const attempt = { kind: 'agent', runStatus: 'succeeded', outputSchema: schema, artifactSchema: null };
  expect(await findingOf({ ...attempt, runOutput: nested(levels) } as never, undefined)).toMatchObject({
    kind: 'invalid',
    error: 'the output is nested deeper than 64 levels',
  });
  const action = { ...attempt, kind: 'action', output: deep };
  expect(await findingOf(action as never, undefined)).toMatchObject({ kind: 'invalid' });
});
