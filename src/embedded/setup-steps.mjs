/** The steps of set-up. Each step says whether what it makes is current, and makes it under a temporary name first. */
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { preparedDatabase } from './prepared-database.mjs';
import { execute, hashFiles, readText, SetupError, syncDisk, writeStamp, writeWhole } from './setup-tools.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const inRoot = (...path) => join(ROOT, ...path);
export const CACHE = inRoot('.cache');
export const BIN = inRoot('node_modules', '.bin');
export const PINNED_NODE = join(BIN, 'node');

const LOCK_FILE = inRoot('package-lock.json');
const INSTALLED_LOCK_FILE = inRoot('node_modules', '.package-lock.json');
const PACKAGES_STAMP = inRoot('node_modules', '.aos-stamp');
const BUNDLE = inRoot('dist', 'workflow-bundle.js');
const BUNDLE_STAMP = join(CACHE, 'workflow-bundle.stamp');
const TEMPORAL_CLI = join(CACHE, 'bin', 'temporal');
const TEMPORAL_VERSION = 'v1.5.1';

export function checkMachine() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 12)) {
    throw new SetupError(`Node ${process.versions.node} is too old: install Node 20.12 or later (https://nodejs.org)`);
  }
  if (!['linux', 'darwin'].includes(process.platform) || !['x64', 'arm64'].includes(process.arch)) {
    throw new SetupError(
      `${process.platform}-${process.arch} is not supported: use Linux or macOS on x64 or arm64 (on Windows: WSL 2)`,
    );
  }
}

/** The folders in which the shell would look, without those of this project. */
const systemPath = () =>
  (process.env.PATH ?? '').split(delimiter).filter((folder) => folder && !folder.includes('node_modules'));

const isProgram = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/**
 * Reads a setting from the environment, otherwise from `.env`. Set-up runs before the command, which reads `.env`
 * itself.
 */
const setting = (name) => process.env[name] || parseEnv(readText(inRoot('.env')) ?? '')[name];

// --- packages

/**
 * Hashes what is to be installed and what npm says it has installed, so that another `npm install` makes an old stamp
 * worthless.
 */
const packagesHash = () => hashFiles([LOCK_FILE, INSTALLED_LOCK_FILE], `${process.platform}-${process.arch}`);

/**
 * npm keeps a lock file of what it installed and writes it last. It is therefore true after any `npm install`, not only
 * after ours.
 */
function matchesLockFile() {
  const installed = readText(INSTALLED_LOCK_FILE);
  if (!installed) return false;
  const have = JSON.parse(installed).packages;
  return Object.entries(JSON.parse(readText(LOCK_FILE)).packages).every(
    ([path, { version, optional, devOptional }]) =>
      path === '' || have[path]?.version === version || (!have[path] && (optional || devOptional)),
  );
}

/**
 * Tells whether the packages exist. A lock file says what npm did, and not what a copy, a clean-up or a full disk has
 * left of that.
 */
function areThere() {
  const { dependencies, devDependencies } = JSON.parse(readText(inRoot('package.json')));
  return Object.keys({ ...dependencies, ...devDependencies }).every((name) => existsSync(inRoot('node_modules', name)));
}

/**
 * `npx aos` runs what it finds among the packages' programs at once. Were the command named in `package.json`, npx would first
 * read the whole of `node_modules`, which takes longer than everything else. `.npmrc` keeps npx from looking elsewhere before it is there.
 */
function linkCommand() {
  try {
    symlinkSync(join('..', '..', 'bin', 'aos.mjs'), join(BIN, 'aos'));
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

export const packages = {
  name: 'packages',
  title: 'Installing packages',
  isCurrent() {
    if (!isProgram(PINNED_NODE) || !areThere()) return false;
    if (readText(PACKAGES_STAMP) !== packagesHash()) {
      if (!matchesLockFile()) return false;
      writeWhole(PACKAGES_STAMP, packagesHash());
    }
    linkCommand();
    return true;
  },
  async make() {
    // npm runs on the machine's own Node, because the pinned one is being replaced.
    const env = { PATH: systemPath().join(delimiter) };
    await execute('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: ROOT, env });
    if (!isProgram(PINNED_NODE)) {
      throw new SetupError(
        'the pinned Node was not installed, because npm runs no install scripts here. Run: npm rebuild node --ignore-scripts=false',
      );
    }
    await writeStamp(PACKAGES_STAMP, packagesHash());
    linkCommand();
  },
};

// --- Temporal CLI

export const temporalCli = {
  name: 'temporal-cli',
  title: 'Getting the Temporal server',
  isCurrent: () =>
    Boolean(setting('TEMPORAL_ADDRESS')) ||
    [setting('TEMPORAL_CLI_PATH') ?? '', ...systemPath().map((folder) => join(folder, 'temporal')), TEMPORAL_CLI].some(
      isProgram,
    ),
  async make(say) {
    mkdirSync(join(CACHE, 'bin'), { recursive: true });
    const folder = join(CACHE, `temporal-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    try {
      const made = copyOfSdk(folder) ?? (await downloaded(folder)) ?? (await compiled(folder, say));
      if (!made) {
        throw new SetupError(
          'there is no Temporal server. Do one of these and start again: install the Temporal CLI ' +
            '(https://docs.temporal.io/cli), set TEMPORAL_CLI_PATH to it, set TEMPORAL_ADDRESS to a server of yours, ' +
            'or install Go (https://go.dev) and it is compiled here',
        );
      }
      await syncDisk(folder);
      renameSync(made, TEMPORAL_CLI);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Copies the server that `@temporalio/testing` once downloaded, but only where the file is this user's own. */
function copyOfSdk(folder) {
  const kept = readdirSync(tmpdir()).find((name) => name.startsWith('temporal-sdk-typescript-'));
  const file = kept && join(tmpdir(), kept);
  if (!file || !isProgram(file) || statSync(file).uid !== process.getuid()) return undefined;
  copyFileSync(file, join(folder, 'temporal'));
  return join(folder, 'temporal');
}

async function downloaded(folder) {
  const script = fileURLToPath(new URL('./download-temporal.mjs', import.meta.url));
  try {
    // The download is a process of its own, because Node can be told only at its start to use the environment's proxy.
    await execute(process.execPath, [script, TEMPORAL_VERSION, folder], { env: { NODE_USE_ENV_PROXY: '1' } });
    return join(folder, 'temporal');
  } catch {
    return undefined;
  }
}

async function compiled(folder, say) {
  const go = systemPath()
    .map((path) => join(path, 'go'))
    .find(isProgram);
  if (!go) return undefined;
  say('temporal.download cannot be reached, so the Temporal server is built from source with Go.');
  say('This takes two to five minutes, once. To skip it, install the Temporal CLI (https://docs.temporal.io/cli),');
  say('or set TEMPORAL_CLI_PATH to one, or TEMPORAL_ADDRESS to a server of yours.');
  await execute(
    go,
    ['install', '-trimpath', '-ldflags', '-s -w', `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_VERSION}`],
    {
      cwd: folder,
      // Everything stays inside the project and can be deleted; Go's module cache would otherwise be read-only.
      env: {
        GOBIN: folder,
        GOPATH: join(folder, 'go'),
        GOCACHE: join(folder, 'build'),
        GOFLAGS: '-modcacherw',
        GOTELEMETRY: 'off',
      },
    },
  );
  return join(folder, 'temporal');
}

// --- workflow bundle

const under = (folder) =>
  readdirSync(inRoot(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

/** Hashes all code that the workflows can reach, which is no more than the import rules allow. */
function bundleHash() {
  return hashFiles([
    ...under('workflows'),
    ...under('src').filter((file) => file.endsWith('/model.ts')),
    inRoot('src/platform/core/problem.ts'),
    inRoot('src/build-bundle.ts'),
    LOCK_FILE,
  ]);
}

const bundle = {
  name: 'workflow-bundle',
  title: 'Bundling the workflows',
  isCurrent: () => existsSync(BUNDLE) && readText(BUNDLE_STAMP) === bundleHash(),
  async make() {
    // The hash is taken before the build, so that an edit during the build makes the next set-up build again.
    const hash = bundleHash();
    await execute(PINNED_NODE, [inRoot('src/build-bundle.ts')], { cwd: ROOT });
    await writeStamp(BUNDLE_STAMP, hash);
  },
};

// --- console

const CONSOLE = join(CACHE, 'console');
const CONSOLE_STAMP = join(CACHE, 'console.stamp');
const consoleHash = () => hashFiles([...under('console'), LOCK_FILE]);

const consoleFiles = {
  name: 'console',
  title: 'Building the console',
  isCurrent: () => existsSync(join(CONSOLE, 'index.html')) && readText(CONSOLE_STAMP) === consoleHash(),
  async make() {
    const hash = consoleHash();
    await execute(PINNED_NODE, [inRoot('console/build.mjs'), CONSOLE], { cwd: ROOT });
    await writeStamp(CONSOLE_STAMP, hash);
  },
};

// --- database

const database = {
  name: 'database',
  title: 'Preparing the database',
  isCurrent: () => existsSync(preparedDatabase()),
  make: () => execute(PINNED_NODE, [inRoot('src/embedded/prepare-database.ts')], { cwd: ROOT }),
};

/** These are made with the packages, side by side. */
export const BUILDS = [bundle, consoleFiles, database];
