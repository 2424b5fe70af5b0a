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
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createProgress, SetupError, stopChildren, withLock } from './setup-tools.mjs';
import { quickStart } from './quick-start.mjs';
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

/**
 * Runs the command as if it replaced this process: it has the same streams, signals are passed on to it, and its exit
 * code becomes ours. Where this Node can, it is replaced, so that nothing waits beside a service for as long as it runs.
 */
async function run([command, ...args]) {
  const env = { ...process.env, PATH: [BIN, process.env.PATH].join(delimiter), ...quickStart(process.env) };
  const node = existsSync(PINNED_NODE) ? PINNED_NODE : process.execPath;
  if (command === 'node') process.execve?.(node, [node, ...args], env);
  const child = spawn(command === 'node' ? node : command, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends Ctrl-C to the command itself, and a second one would mean "end at once".
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal));
  }
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new SetupError(`cannot run ${command}: ${error.message}`)));
    child.on('exit', (...end) => resolve(end));
  });
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = code ?? 1;
}
