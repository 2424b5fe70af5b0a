/** What the console weighs, by the manifest of its build. */
import { expect, test } from '@jest/globals';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { present } from '../../src/platform/core/present.ts';

const BUILT = fileURLToPath(new URL('../../.cache/console', import.meta.url));
const FIRST_LOAD_BYTES = 185_000;
const LAZY_ROUTE_BYTES = 60_000;

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

const manifest = JSON.parse(await readFile(join(BUILT, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
const ENTRY = 'index.html';

const PICTURE = /\.webp$/;
/** Of one picture of a sample. */
const CARD_BYTES = 40 * 1_024;

/** A chunk with all that has to be there before it runs. */
function needed(name: string, found = new Set<string>()): Set<string> {
  const { file, imports = [], css = [] } = present(manifest[name]);
  if (found.has(file)) return found;
  for (const each of [file, ...css]) found.add(each);
  for (const each of imports) needed(each, found);
  return found;
}

const weight = async (files: Iterable<string>): Promise<number> => {
  const sizes = await Promise.all([...files].map(async (file) => (await stat(join(BUILT, `${file}.gz`))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};

// Guards: a first load that stays quick, its first page included, whatever is added.
test('the first load is within its budget', async () => {
  const first = new Set([...needed(ENTRY), ...needed('src/routes/runs.tsx')]);
  expect(await weight(first)).toBeLessThan(FIRST_LOAD_BYTES);
});

// Guards: a page that brings half a library along.
test('each page that comes later is within its budget', async () => {
  const first = needed(ENTRY);
  const lazy = Object.keys(manifest).filter(
    (name) => /^(src|\.\.\/node_modules)\//.test(name) && name !== ENTRY && !PICTURE.test(name),
  );
  const sizes = await Promise.all(
    lazy.map(async (name) => ({ name, bytes: await weight([...needed(name)].filter((file) => !first.has(file))) })),
  );
  expect(lazy.length).toBeGreaterThan(2);
  expect(sizes.filter(({ bytes }) => bytes > LAZY_ROUTE_BYTES)).toEqual([]);
});

// Guards: pictures of samples that take longer to load than the page around them. They are loaded as they come into view.
test('each picture is within its budget', async () => {
  const pictures = Object.keys(manifest).filter((name) => PICTURE.test(name));
  const sizes = await Promise.all(
    pictures.map(async (name) => ({ name, bytes: (await stat(join(BUILT, present(manifest[name]).file))).size })),
  );
  expect(pictures.length).toBeGreaterThan(0);
  expect(sizes.filter(({ bytes }) => bytes > CARD_BYTES)).toEqual([]);
});
