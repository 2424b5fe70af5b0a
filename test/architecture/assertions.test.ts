/**
 * `x!` and `x as T` claim what nobody looks at: where the claim is wrong, something else fails later. `present.ts`,
 * `record.ts` and `causes.ts` in `src/platform/core/` look, and say what was missing.
 */
import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Count {
  casts: number;
  nonNulls: number;
}

/** The most that each part of the repository may have: lower them when you can, and raise none without a reason. */
const MOST: Readonly<Record<string, Count>> = {
  activities: { casts: 10, nonNulls: 10 },
  workflows: { casts: 10, nonNulls: 0 },
  src: { casts: 215, nonNulls: 62 },
  'client/src': { casts: 12, nonNulls: 6 },
  'console/src': { casts: 55, nonNulls: 35 },
  // Most are of replies and rows whose shape is what the test then expects.
  test: { casts: 499, nonNulls: 140 },
};

function countIn(name: string, text: string): Count {
  const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const count: Count = { casts: 0, nonNulls: 0 };
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) count.casts += 1;
    if (ts.isNonNullExpression(node)) count.nonNulls += 1;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, false, kind));
  return count;
}

const NOT_OURS = /(^|\/)(node_modules|generated|dist|\.cache)\/|\.d\.ts$/;

function countOf(part: string): Count {
  const names = readdirSync(`${ROOT}${part}`, { recursive: true, encoding: 'utf8' });
  const counts = names
    .filter((name) => /\.tsx?$/.test(name) && !NOT_OURS.test(name))
    .map((name) => countIn(name, readFileSync(`${ROOT}${part}/${name}`, 'utf8')));
  const sum = (of: keyof Count) => counts.reduce((total, count) => total + count[of], 0);
  return { casts: sum('casts'), nonNulls: sum('nonNulls') };
}

// Guards: the number of casts and non-null assertions does not grow again.
test.each(Object.entries(MOST))('%s claims no more than it did', (part, most) => {
  const { casts, nonNulls } = countOf(part);
  expect(casts).toBeLessThanOrEqual(most.casts);
  expect(nonNulls).toBeLessThanOrEqual(most.nonNulls);
});

// Guards: the counting itself. `as const` is no cast.
test('counts casts and non-null assertions', () => {
  expect(countIn('a.ts', 'const a = b as const; const c = d![0]! as unknown as string;')).toEqual({
    casts: 2,
    nonNulls: 2,
  });
});
