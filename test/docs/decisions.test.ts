import { expect, test } from '@jest/globals';
import { decisionsPage, numbered } from './decisions.ts';

const page = (...paragraphs: string[]) => `# Decisions\n\n## All of them\n\n${paragraphs.join('\n\n')}\n`;
const one = '<a id="d1"></a>**1. 2026-01-01, runs: a turn is one thing.** Because it is.';

// Guards: every decision has its number, its topic and its line in the index, in the order of their dates.
test('docs/decisions.md is numbered', async () => {
  const { current, wanted } = await decisionsPage();
  if (current !== wanted) throw new Error('docs/decisions.md is out of date: npm run docs:decisions');
});

// Guards: an appended decision gets the next number, and a page that is numbered already does not change.
test('the next number', () => {
  const text = numbered(page(one, '**2026-01-02, tools: `x` is\nread** by\nnobody.'));
  expect(text).toContain(`\n\n${one}\n\n<a id="d2"></a>**2. 2026-01-02, tools: \`x\` is\nread** by\nnobody.\n`);
  expect(text).toContain('**Runs and models**\n\n- [1](#d1) a turn is one thing\n');
  expect(text).toContain('- [2](#d2) `x` is read\n');
  expect(numbered(text)).toBe(text);
});

// Guards: the number of a decision never changes its meaning, and no decision is left out silently.
test.each([
  ['is in place 1', page(one.replaceAll('1.', '2.'))],
  ['is in place 2', page(one, one)],
  ['older than what stands before', page(one, '**2025-12-31, runs: late.**')],
  ['has no topic of: runs,', page('**2026-01-01, weather: fine.**')],
  ['does not begin like', page('**2026-01-01: no topic.**')],
  ['does not begin like', page(one, 'A second paragraph.')],
])('%s', (message, text) => {
  expect(() => numbered(text)).toThrow(message);
});
