/** Set-up in a tree of its own, with an npm and a Node that only write down how they are called. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRODUCT = fileURLToPath(new URL('../../', import.meta.url));
const LOCKED = { pinned: { version: '1.0.0' }, 'for-another-platform': { version: '1.0.0', optional: true } };
/** What a real npm does as far as set-up can see it: the packages, then the lock file of what was installed. */
const NPM = `#!/bin/sh
echo "$*" >> npm-calls
[ -e npm-is-broken ] && { echo "no network" >&2; exit 1; }
mkdir -p node_modules/pinned
cp package-lock.json node_modules/.package-lock.json
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'aos-setup-'));
  for (const path of ['src/embedded', 'src/quick-imports.mjs', 'bin']) {
    cpSync(join(PRODUCT, path), join(root, path), {
      recursive: true,
      filter: (file) => !file.endsWith('.ts'),
    });
  }
  for (const folder of ['workflows', 'console', 'migrations']) mkdirSync(join(root, folder));
  write('package.json', JSON.stringify({ type: 'module', dependencies: { pinned: '1.0.0' } }));
  write('machine/npm', NPM, 0o755);
  write('node_modules/.bin/node', '#!/bin/sh\necho "on the pinned Node: $*"\n', 0o755);
  lock('package-lock.json', LOCKED);
  lock('node_modules/.package-lock.json', { pinned: LOCKED.pinned });
  mkdirSync(join(root, 'node_modules/pinned'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { mode });
}
function lock(path: string, packages: Record<string, object>): void {
  const entries = Object.entries(packages).map(([name, value]) => [`node_modules/${name}`, value]);
  write(path, JSON.stringify({ packages: { '': {}, ...Object.fromEntries(entries) } }));
}

const npmCalls = (): string[] =>
  existsSync(join(root, 'npm-calls')) ? readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n') : [];

/** @returns what was printed, and how it ended */
const run = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { PATH: `${join(root, 'machine')}:/usr/bin:/bin`, TEMPORAL_ADDRESS: 'not-asked:7233' };
    execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
const setUp = () => run('src/embedded/setup.mjs', '--', 'sh', '-c', 'echo started');

// Guards against: npx that reads all of node_modules before it starts anything, or asks the registry for a stranger's package.
test('npx finds aos among the programs of the packages', async () => {
  await setUp();
  expect(realpathSync(join(root, 'node_modules/.bin/aos'))).toBe(realpathSync(join(root, 'bin/aos.mjs')));
  expect(JSON.parse(readFileSync(join(PRODUCT, 'package.json'), 'utf8'))).not.toHaveProperty('bin');
  expect(readFileSync(join(PRODUCT, '.npmrc'), 'utf8')).toMatch(/^yes=false$/m);
});

// Guards against: a power loss after which an empty bundle or package counts as made, because only its stamp is on the disk.
test('what a step made is on the disk before its stamp', async () => {
  const stamps = 'ls node_modules/.aos-stamp .cache/*.stamp 2>/dev/null | wc -l';
  write('machine/sync', `#!/bin/sh\n[ -d "\${2:-.}" ] && ${stamps} >> stamps-at-sync\n`, 0o755);
  rmSync(join(root, 'node_modules/.package-lock.json'));
  await setUp();
  const before = readFileSync(join(root, 'stamps-at-sync'), 'utf8').trim().split('\n').map(Number);
  expect(before).toHaveLength(3);
  before.forEach((count, i) => expect(count).toBeLessThanOrEqual(i));
});

describe('packages that are not those of this version', () => {
  const cases: [string, () => void][] = [
    ['another version of a package', () => lock('package-lock.json', { pinned: { version: '2.0.0' } })],
    ['a new package', () => lock('package-lock.json', { ...LOCKED, added: { version: '1.0.0' } })],
    [
      'an older version that was installed after set-up',
      () => lock('node_modules/.package-lock.json', { pinned: { version: '0.9.0' } }),
    ],
    ['a package whose folder is gone', () => rmSync(join(root, 'node_modules/pinned'), { recursive: true })],
    ['an install that was interrupted', () => rmSync(join(root, 'node_modules/.package-lock.json'))],
  ];

  // Guards against: a service or tests that start after a `git pull` without a module that they now need, with a
  // message that does not say what to do.
  test.each(cases)('%s: they are installed before the command runs', async (_, change) => {
    await setUp();
    expect(npmCalls()).toEqual([]);

    change();
    expect(await setUp()).toMatchObject({ code: 0, stdout: 'started\n' });
    expect(npmCalls()).toEqual(['ci --include=dev --no-audit --no-fund --loglevel=error']);
    await setUp();
    expect(npmCalls()).toHaveLength(1);
  });

  // Guards against: the same for the command line, which skips set-up where nothing has to be set up.
  test.each(cases)('%s: aos installs them', async (_, change) => {
    expect(await run('bin/aos.mjs', 'runs')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^on the pinned Node: \S+src\/cli\.ts runs\n$/),
    });
    expect(npmCalls()).toEqual([]);

    change();
    expect(await run('bin/aos.mjs', 'runs')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^on the pinned Node: \S+src\/cli\.ts runs\n$/),
    });
    expect(npmCalls()).toHaveLength(1);
  });

  // Guards: where npm cannot install the packages, its reason is shown without a stack, and the command does not run
  // without them.
  test('npm fails', async () => {
    lock('package-lock.json', { pinned: { version: '2.0.0' } });
    write('npm-is-broken', '');
    const { code, stdout, stderr } = await setUp();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/set-up failed: npm ci .* failed\nno network\n$/);
    expect(stderr).not.toContain('    at ');
  });
});

// Guards: set-up runs on any Node without packages. `build` runs in an image, which has no development packages.
test('every script of npm is behind set-up', () => {
  const { scripts } = JSON.parse(readFileSync(join(PRODUCT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const bare = Object.entries(scripts).filter(([, command]) =>
    /^node (?!src\/embedded\/setup\.mjs|bin\/)/.test(command),
  );
  expect(bare.map(([name]) => name)).toEqual(['build']);
});
