/** What ships as YAML: each file is listed, is of its shape, and is what a workspace could apply. */
import { beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { readShippedFiles } from '../../../src/platform/core/shipped-files.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { WorkflowManifest } from '../../../src/resources/templates/manifest.ts';

const Shape = z.strictObject({ slug: z.string(), title: z.string() });

let folder: URL;
const write = (name: string, text: string) => writeFileSync(new URL(name, folder), text);
const read = (...slugs: string[]) => readShippedFiles(folder, Shape, slugs);
beforeEach(() => {
  folder = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'shipped-'))}/`);
});

test('files are read in the order of the list', async () => {
  write('a.yaml', 'slug: a\ntitle: First');
  write('b.yaml', 'slug: b\ntitle: Second');
  expect([...(await read('b', 'a'))].map(([slug, { title }]) => [slug, title])).toEqual([
    ['b', 'Second'],
    ['a', 'First'],
  ]);
});

// Guards: what is forgotten, missing or misspelt stops the start and names the file.
test.each([
  ['a file that is not listed', ['a'], 'b.yaml is not listed'],
  ['a file that is missing', ['a', 'b', 'c'], 'c.yaml'],
  ['a field that nobody knows', ['a', 'b', 'd'], 'd.yaml'],
  ['a slug that is not the name of the file', ['a', 'b', 'e'], 'has the slug f'],
])('%s is refused', async (_what, slugs, message) => {
  write('a.yaml', 'slug: a\ntitle: First');
  write('b.yaml', 'slug: b\ntitle: Second');
  if (slugs.includes('d')) write('d.yaml', 'slug: d\ntitle: D\ntitel: D');
  if (slugs.includes('e')) write('e.yaml', 'slug: f\ntitle: E');
  await expect(read(...slugs)).rejects.toThrow(message);
});

// Guards: a shipped workflow is a file that `aos apply` takes, and the service reads it as that would.
test.each(builtinTemplates.map(({ spec }) => [spec.slug, spec] as const))('%s can be applied', (slug, spec) => {
  const file = new URL(`../../../src/resources/templates/builtin/${slug}.yaml`, import.meta.url);
  const { version: _version, ...content } = parse(readFileSync(file, 'utf8'));
  const { collection, tags, ...manifest } = WorkflowManifest.parse(content);
  const trimmed = (key: string, value: unknown) =>
    key === 'instructions' && typeof value === 'string' ? value.trim() : value;
  expect({ ...spec, collection, tags }).toEqual(
    JSON.parse(JSON.stringify({ ...manifest, version: spec.version, collection, tags }, trimmed)),
  );
});
