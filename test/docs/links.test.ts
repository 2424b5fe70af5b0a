import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brokenLinks, filesOf } from './links.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'aos-links-'));
  await write('package.json', '{"scripts":{"there":""}}');
  await write('.gitignore', 'left-out/\n');
  await write('left-out/page.md', '[gone](nowhere.md)');
  await write('src/there.ts', '// One.\n');
});
afterAll(() => rm(root, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
const broken = () => brokenLinks(root, filesOf(root));

// Guards: correct links pass in each form that the pages use.
test('whole', async () => {
  await write(
    'README.md',
    '# Top\n\n[a](docs/a.md#what-it-is-1) [code](src/there.ts#L1) ![b](src/there.ts) [web](https://x.example)',
  );
  await write(
    'docs/a.md',
    '# A\n\n## What it `is`\n\n## What it is\n\n<a id="d1"></a>[back](../README.md#top) [x](#d1)\n\n`src/<name>.ts` `src/*.ts`',
  );
  await write('src/names.ts', '// docs/a.md#a');
  expect(broken()).toEqual([]);
});

// Guards: a link to a file, heading or command that is gone is reported with its page.
test.each([
  ['[x](b.md)', 'docs/a.md: b.md: there is no such file'],
  ['[x](../../outside.md)', 'docs/a.md: ../../outside.md: there is no such file'],
  ['[x](../README.md#bottom)', 'docs/a.md: ../README.md#bottom: there is no such heading'],
  ['[x](#nowhere)', 'docs/a.md: #nowhere: there is no such heading'],
  ['[x](../src/there.ts#L9)', 'docs/a.md: ../src/there.ts#L9: there is no such heading'],
  ['`src/gone.ts`', 'docs/a.md: `src/gone.ts`: there is no such file'],
  ['`npm run gone`', 'docs/a.md: `npm run gone`: there is no such script'],
  ['```sh\nnpm run gone\n```', 'docs/a.md: `npm run gone`: there is no such script'],
])('%s', async (text, message) => {
  await write('docs/a.md', `# A\n\n## What it is\n\n## What it is\n\n[back](../README.md)\n\n${text}\n`);
  expect(broken()).toEqual([message]);
});

// Guards against: names of the code in a how-to that a renaming has left behind. Names of the how-to's own example are
// not checked.
test('names of the code', async () => {
  await write('src/there.ts', 'export const KINDS_THERE = [oneName];\n');
  const top = '# A\n\n## What it is\n\n## What it is\n\n[back](../README.md) [how](how-to/b.md)\n';
  await write('docs/a.md', top);
  await write(
    'docs/how-to/b.md',
    '<!-- example: ofMine -->\n\n[back](../../README.md) `KINDS_THERE` `oneName` `ofMine` `otherName` `a word`',
  );
  expect(broken()).toEqual(['docs/how-to/b.md: `otherName`: no code has this name']);
  await rm(join(root, 'docs/how-to'), { recursive: true });
});

// Guards against: pages that no page links to, pages without a way back, and comments that name a page or decision that
// is gone.
test('lost pages, names in code', async () => {
  await write('docs/a.md', '# A\n\n## What it is\n\n## What it is\n');
  await write('docs/alone.md', '[home](../README.md)');
  await write('src/names.ts', '// docs/gone.md, decision 3\n// docs/a.md#gone\n');
  expect(broken()).toEqual([
    'docs/a.md: no link leads back to README.md',
    'docs/alone.md: no link leads here from README.md',
    'src/names.ts: docs/gone.md: there is no such page or heading',
    'src/names.ts: docs/a.md#gone: there is no such page or heading',
    'src/names.ts: there is no decision 3',
  ]);
});
