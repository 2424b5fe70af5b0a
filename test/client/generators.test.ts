/** Clients that others generate of the OpenAPI documents: the generators take all of both, and each module can be imported. */
import { createClient } from '@hey-api/openapi-ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { documents } from '../../src/openapi.ts';
import { handle } from '../../src/platform/http/endpoint.ts';
import { endpoints } from '../support/http/endpoints.ts';
import { inCache } from '../support/programs/make-once.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { installPythonPackage } from '../support/programs/python-package.ts';

const run = promisify(execFile);
const VERSION = '0.29.1';
const HOME = inCache(`openapi-python-client-${VERSION}`);
const PYTHON = join(HOME, 'bin/python');
const isWithoutPython = isMissing(
  'clients in Python of the OpenAPI documents',
  await reasonOf(installPythonPackage(`openapi-python-client==${VERSION}`, HOME)),
);

const IMPORT_PYTHON = `
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
package = importlib.import_module("generated")
modules = [found.name for found in pkgutil.walk_packages(package.__path__, "generated.")]
for name in modules: importlib.import_module(name)
print(len(modules))`;
const IMPORT_JS = `
const files = process.argv.slice(1);
for (const file of files) await import(file);
console.log(files.length);`;

const routes = endpoints.map((endpoint) => handle(endpoint, async () => {}));
const DOCUMENTS = Object.entries(
  documents(routes, { BASE_URL: undefined, PORT: 8080, EXTENSIONS: new Set(['idempotency'] as const) }),
);

describe.each(DOCUMENTS)('%s', (name, document) => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    await mkdir(inCache(), { recursive: true });
    // Within the repository, whose packages the generated modules import.
    folder = await mkdtemp(inCache(`generated-${name}-`));
    file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document()));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  // Guards against: unnamed members of unions, recursive values and types of bodies for which a generator leaves out
  // endpoints and models, with a warning that nobody reads.
  (isWithoutPython ? test.skip : test)('is taken by openapi-python-client', async () => {
    const config = join(folder, 'config.yml');
    await writeFile(config, 'post_hooks: []\n');
    const into = ['--path', file, '--output-path', join(folder, 'generated'), '--meta', 'none', '--config', config];
    const { stdout } = await run(PYTHON, ['-m', 'openapi_python_client', 'generate', '--fail-on-warning', ...into]);
    expect(stdout).not.toMatch(/warning/i);
    const { stdout: imported } = await run(PYTHON, ['-c', IMPORT_PYTHON, folder]);
    expect(Number(imported)).toBeGreaterThan(Object.keys(document().paths ?? {}).length);
  });

  // Guards: the same in TypeScript, with schemas that check replies.
  test('is taken by openapi-ts', async () => {
    const path = join(folder, 'typescript');
    await createClient({
      input: file,
      output: { path, module: { extension: '.ts' } },
      logs: { level: 'silent' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', 'zod'],
    });
    const modules = (await readdir(path, { recursive: true })).filter((each) => each.endsWith('.ts'));
    expect(modules).toEqual(expect.arrayContaining(['sdk.gen.ts', 'types.gen.ts', 'zod.gen.ts']));
    const paths = modules.map((each) => join(path, each));
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', IMPORT_JS, '--', ...paths]);
    expect(Number(stdout)).toBe(modules.length);
  });
});
