/**
 * Which test files speak of an endpoint: by its id in quotes or in a `// Guards:` line, or by its address together with
 * its method. The generated tests, which take every endpoint, do not count: they know nothing of what it is for. Nor do
 * those of the platform, which borrow addresses.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';

const TESTS = fileURLToPath(new URL('../..', import.meta.url));
const NOT_OF_ENDPOINTS = /^(architecture|security|platform)\//;

export interface TestFile {
  /** Relative to `test/`. */
  name: string;
  text: string;
}

/** @param besides those that do not count */
export async function readTestFiles(besides = NOT_OF_ENDPOINTS): Promise<TestFile[]> {
  const names = (await readdir(TESTS, { recursive: true })).map((name) => name.replaceAll('\\', '/'));
  const chosen = names.filter((name) => name.endsWith('.test.ts') && !besides.test(name)).sort();
  return Promise.all(chosen.map(async (name) => ({ name, text: await readFile(join(TESTS, name), 'utf8') })));
}

export const filesThatTest = (endpoint: Endpoint, files: readonly TestFile[]): string[] =>
  files.filter(({ text }) => speaksOf(endpoint, text)).map(({ name }) => name);

function speaksOf({ id, method, path }: Endpoint, text: string): boolean {
  const literal = id.replaceAll('.', '\\.');
  if (new RegExp(`['"\`]${literal}['"\`]|// Guards:.*\\b${literal}\\b`).test(text)) return true;
  // `/v1/runs/${run.id}/events?limit=2` and `/v1/runs/01jd.../events` are both `/v1/runs/{run_id}/events`.
  const address = new RegExp(`${path.replace(/\{\w+\}/g, `[^/\\s'"\`?]+`)}(?![\\w/-])`);
  const calls = new RegExp(`\\.${method}\\(|['"\`]${method}['"\`]`, 'i');
  return calls.test(text) && address.test(text.replace(/\$\{[^}]*\}/g, '{}'));
}
