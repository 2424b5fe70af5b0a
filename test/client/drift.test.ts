import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generateClient, GENERATED } from './generate.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(GENERATED, '../../../.cache/client-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const filesOf = async (root: string): Promise<Record<string, string>> => {
  const names = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ts')).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(root, name), 'utf8')])),
  );
};

// Guards: the generated client matches the contracts of the service.
test('the client is generated of the contracts as they are', async () => {
  await generateClient(folder);
  const [committed, wanted] = [await filesOf(GENERATED), await filesOf(folder)];
  const differing = Object.keys({ ...committed, ...wanted }).filter((name) => committed[name] !== wanted[name]);
  if (differing.length > 0) throw new Error(`${differing.join(', ')} out of date: npm run client:generate`);
  expect(Object.keys(wanted)).toContain('sdk.gen.ts');
});
