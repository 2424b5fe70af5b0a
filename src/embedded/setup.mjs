#!/usr/bin/env node
/**
 * Sets the project up, and is the door to every npm script: `node src/embedded/setup.mjs [--] [command args...]` makes
 * what is missing or out of date, then runs the command on the pinned Node. When everything is current, this costs a
 * few file hashes.
 *
 * It runs on any Node >= 20 before a single package exists, so nothing here may import one. Each step is safe to
 * interrupt and to run twice at once; nothing is written outside this directory.
 *
 * `--check` only says, as JSON, which steps are current, for `aos doctor`.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createProgress, SetupError, stopChildren, withLock } from './setup-tools.mjs';
import { quickStart } from './quick-start.mjs';
import { runInstead } from './run-instead.mjs';
import { BIN, BUILDS, CACHE, checkMachine, packages, PINNED_NODE, temporalCli } from './setup-steps.mjs';

const STEPS = [packages, temporalCli, ...BUILDS];
const [first, ...rest] = process.argv.slice(2);

try {
  checkMachine();
  if (first === '--check') {
    console.log(JSON.stringify(STEPS.map(({ name, isCurrent }) => ({ name, current: isCurrent() }))));
  } else {
    await setUp();
    const command = first === '--' ? rest : process.argv.slice(2);
    if (command.length > 0) await run(command);
    else console.error('Everything is set up. Next: npm run demo, npm test or npm start');
  }
} catch (error) {
  stopChildren();
  if (!(error instanceof SetupError)) throw error;
  console.error(`set-up failed: ${error.message}`);
  process.exit(1);
}

async function setUp() {
  if (STEPS.every((step) => step.isCurrent())) return;

  const interrupted = (signal) => {
    stopChildren();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  const progress = createProgress();
  // Another process may have made everything while this one waited for its turn, so each step looks again.
  const make = async (step) => {
    if (!step.isCurrent()) await progress.show(step.title, step.make);
  };
  await withLock(join(CACHE, 'setup.lock'), progress, () =>
    // The server can take minutes to compile and needs no package, so it is made at the same time as they are.
    Promise.all([make(temporalCli), make(packages).then(() => Promise.all(BUILDS.map(make)))]),
  );
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
}

async function run([command, ...args]) {
  const env = { ...process.env, PATH: [BIN, process.env.PATH].join(delimiter), ...quickStart(process.env) };
  const node = existsSync(PINNED_NODE) ? PINNED_NODE : process.execPath;
  await runInstead(command === 'node' ? node : command, args, env).catch((error) => {
    throw new SetupError(`cannot run ${command}: ${error.message}`);
  });
}
