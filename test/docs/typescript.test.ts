/** The TypeScript that the pages show compiles against the product as it is. */
import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './blocks.ts';
import { filesOf } from './links.ts';
import { codeBlocksOf, faultsOf, filesWith } from './typescript.ts';

const pages = filesOf(ROOT)
  .filter((path) => path.endsWith('.md') && !path.startsWith('samples/workflows/'))
  .map((path) => ({ path, blocks: codeBlocksOf(readFileSync(join(ROOT, path), 'utf8'), path) }))
  .filter(({ blocks }) => blocks.length > 0);

describe.each(pages)('$path', ({ blocks }) => {
  // Guards against: a page whose code the product, or its client, no longer accepts.
  test('its code compiles', () => {
    expect(faultsOf(blocks)).toEqual([]);
  });

  // Guards: a test that a page names in the place of a check exists.
  test('its tests', () => {
    for (const { notChecked = '' } of blocks)
      for (const [path] of notChecked.matchAll(/\btest\/[\w./-]*\w/g))
        expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  });
});

// Guards: the check finds code blocks in each form, so that the cases above are not empty by mistake.
test('there are pages of each kind', () => {
  const all = pages.flatMap(({ blocks }) => blocks);
  expect(all.some((block) => block.in === undefined && block.notChecked === undefined)).toBe(true);
  expect(all.some((block) => block.in !== undefined && block.before === undefined)).toBe(true);
  expect(all.some((block) => block.before !== undefined)).toBe(true);
});

const block = (info: string, text: string) => codeBlocksOf(`\`\`\`${info}\n${text}\n\`\`\``, 'a page');

// Guards against: a check that accepts everything.
test.each([
  ['ts', "import { createClient } from 'agent-orchestration-client';\ncreateClient({ baseURL: 'x' });", "'baseURL'"],
  ['ts', "import { Gone } from '@temporalio/client';\nnew Gone();", "no exported member 'Gone'"],
  ['ts', 'const n: number = ;', 'Expression expected'],
  ['ts in="src/resources/api-keys/model.ts"', 'export const wrong: number = prefixOf("a");', "'string' is not"],
  [
    'ts in="src/resources/api-keys/model.ts" before="export const prefixOf"',
    'const never: string = 1;',
    "'number' is not",
  ],
])('```%s: %s', (info, text, message) => {
  expect(faultsOf(block(info, text)).join('\n')).toContain(message);
});

// Guards against: a block that is neither checked nor says why, and one whose place in the code is gone.
test('blocks that do not say what they are', () => {
  expect(() => block('typescript', '')).toThrow('is to be ts');
  expect(() => block('ts not-checked="no"', '')).toThrow('does not say why');
  expect(() => block('ts into="a"', '')).toThrow('has "into"');
  const lost = block('ts in="src/resources/api-keys/model.ts" before="no such line"', 'const a = 1;');
  expect(() => filesWith(lost)).toThrow('0 lines of src/resources/api-keys/model.ts have "no such line"');
});
