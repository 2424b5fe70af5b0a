/**
 * The package as others have it: packed, installed into an empty folder, type-checked there, and its README's examples run
 * against the service, in each Node that it is for.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { present } from '../../src/platform/core/present.ts';
import { inherited } from '../support/processes/inherited.ts';
import { portOf } from '../support/processes/listening.ts';
import { isMissing } from '../support/programs/missing.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(ROOT, 'client');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);

const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');
const EXAMPLES = [...readme.matchAll(/## (\d+)\. (.*)\n[^#]*?```ts shows="(.*)"\n([\s\S]*?)```/g)].map(
  ([, n, title, shows, text]) => ({ n: n!, title: title!, shows: shows!, text: text! }),
);

/** The machine's own, where it has one: the oldest that the package is for. */
const versionOf = async (node: string) => (await run(node, ['--version'])).stdout.trim();
async function oldest(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    if (existsSync(node) && (await versionOf(node)).startsWith('v20.')) return node;
  }
  return undefined;
}
const node20 = await oldest();

let folder: string;
let service: TestService;
let tenant: Tenant;
/** Holds the port of an example's receiver until the example wants it: others of this machine would take it. */
const placeholder = createServer();
let receiverPort: number;

beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  folder = await mkdtemp(join(ROOT, '.cache/package-'));
  const { stdout } = await run('npm', ['pack', CLIENT, '--pack-destination', folder, '--json'], { cwd: folder });
  const [{ filename } = { filename: '' }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { filename: string }[];
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder });
  for (const { n, text } of EXAMPLES) await writeFile(join(folder, `example-${n}.ts`), text);
  await holdPort(0);
  receiverPort = portOf(placeholder);
  service = await startTestService({
    env: {
      EXTENSIONS: 'idempotency',
      LIVE_STREAM_LIFE: '1h',
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: `127.0.0.1:${receiverPort}`,
    },
  });
  tenant = await service.tenant('acc_package', 'scale');
});
afterAll(async () => {
  placeholder.close();
  await service?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const holdPort = async (port: number) => void (await once(placeholder.listen(port, '127.0.0.1'), 'listening'));
const letGoOfPort = async () => void (await once(placeholder.close(), 'close'));

/** @param options of the compiler, beside those that every project should have */
async function check(files: readonly string[], options: Record<string, unknown>): Promise<void> {
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    ...options,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await run(process.execPath, [TSC, '-p', folder]).catch(({ stdout }: { stdout: string }) => {
    throw new Error(stdout);
  });
}

test('there are eleven examples', () => {
  expect(EXAMPLES.map(({ n }) => Number(n))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

// Guards: the package has no dependencies and contains everything that it needs.
test('it has no dependency', async () => {
  const { stdout } = await run('npm', ['ls', '--all', '--json'], { cwd: folder });
  const { dependencies } = JSON.parse(stdout) as { dependencies: Record<string, { dependencies?: unknown }> };
  expect(Object.entries(dependencies).map(([name, { dependencies: more }]) => [name, more])).toEqual([
    ['agent-orchestration-client', undefined],
  ]);
});

// Guards: its declarations are complete for a program with only browser types, and every problem code is known.
test('it is type-checked where nothing of Node is', async () => {
  const text = `
    import { createClient, isProblem, type AnyServiceError, type ProblemCode } from 'agent-orchestration-client';
    import { runsList } from 'agent-orchestration-client/api';
    const aos = createClient({ session: 'browser' });
    export const statuses: Promise<string[]> = runsList({ client: aos.http }).then(({ data }) => data.map((row) => row.run_id));
    export const code: ProblemCode = 'not_found';
    export const detail = (error: unknown): string | undefined => (isProblem(error, 'not_found') ? error.detail : undefined);
    export function limit(error: AnyServiceError): number | undefined {
      return error.code === 'plan_limit_exceeded' ? error.detail.limit : undefined;
    }
    // @ts-expect-error there is no such problem
    isProblem(undefined, 'no_such_problem');
    // @ts-expect-error a prompt is needed
    void aos.runs.start({ agent: 'assistant' });
  `;
  await writeFile(join(folder, 'browser.ts'), text);
  await check(['browser.ts'], { noEmit: true, types: [], lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'] });
});

// Guards against: an installation that is documented in a way which changes the repository's own package.json.
test('is installed as its README says, into a directory beside the repository', async () => {
  const checkout = join(folder, 'checkout');
  await mkdir(checkout);
  await symlink(CLIENT, join(checkout, 'client'));
  await writeFile(join(checkout, 'package.json'), '{ "private": true }');
  const [, install] = present(/```sh not-run=[^\n]*\n([\s\S]*?)```/.exec(readme));
  const offline = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  await run('sh', ['-ec', present(install)], { cwd: checkout, env: { ...process.env, ...offline } });
  expect(await readdir(checkout)).toEqual(['client', 'package.json']);
  expect(await readFile(join(checkout, 'package.json'), 'utf8')).toBe('{ "private": true }');
  const app = join(folder, 'my-app');
  const { stdout } = await run(
    'node',
    ['--input-type=module', '-e', 'console.log(import.meta.resolve("agent-orchestration-client"))'],
    { cwd: app },
  );
  expect(stdout).toContain('/my-app/node_modules/agent-orchestration-client/');
});

describe('the examples', () => {
  beforeAll(() =>
    check(
      EXAMPLES.map(({ n }) => `example-${n}.ts`),
      { outDir: 'out', lib: ['es2022'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    ),
  );

  const nodes: [string, string][] = [['the pinned Node', process.execPath]];
  if (!isMissing('the client in Node 20', node20 ? undefined : 'there is none on the path')) {
    nodes.push(['Node 20', node20!]);
  }

  // Guards: the examples of the README work as they are printed.
  describe.each(nodes)('in %s', (_name, node) => {
    // One after another: the last one listens at a port of its own.
    test.each(EXAMPLES)('$n. $title', async ({ n, shows, text }) => {
      const env = {
        ...inherited(),
        NODE_OPTIONS: '',
        AOS_URL: service.baseUrl,
        AOS_API_KEY: tenant.apiKey,
        AOS_SESSION: tenant.session,
        RECEIVER_PORT: String(receiverPort),
      };
      const isReceiver = text.includes('RECEIVER_PORT');
      if (isReceiver) await letGoOfPort();
      const ran = run(node, [join(folder, 'out', `example-${n}.js`)], { env, timeout: 50_000 });
      const { stdout, stderr } = await ran.finally(() => isReceiver && holdPort(receiverPort));
      expect(stderr).toBe('');
      expect(stdout).toMatch(new RegExp(shows));
    });
  });
});
