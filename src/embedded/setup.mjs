#!/usr/bin/env node
/**
 * Set-up, and the door to every npm script: `node src/embedded/setup.mjs [--] [command args...]` makes what is missing or
 * out of date, then runs the command on the pinned Node. When all is current it costs a few file hashes.
 *
 * Runs on any Node >= 20 before a single package is there: nothing here may import one. Each step is safe to interrupt
 * and to run twice at once; nothing is written outside this directory.
 *
 * `--check` only says, as JSON, which steps are current (for `aos doctor`).
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createProgress, SetupError, stopChildren, withLock } from './setup-tools.mjs';
import { quickStart } from './quick-start.mjs';
import { BIN, bundle, CACHE, checkMachine, consoleFiles, packages, PINNED_NODE, temporalCli } from './setup-steps.mjs';

const [first, ...rest] = process.argv.slice(2);

try {
  checkMachine();
  if (first === '--check') {
    console.log(
      JSON.stringify(
        [packages, temporalCli, bundle, consoleFiles].map(({ name, isCurrent }) => ({ name, current: isCurrent() })),
      ),
    );
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
  const steps = [packages, temporalCli, bundle, consoleFiles];
  if (steps.every((step) => step.isCurrent())) return;

  const interrupted = (signal) => {
    stopChildren();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  const progress = createProgress();
  // Another process may have made it all while this one waited for its turn: each step looks again.
  const make = async (step) => {
    if (!step.isCurrent()) await progress.show(step.title, step.make);
  };
  await withLock(join(CACHE, 'setup.lock'), progress, () =>
    // The server can take minutes to compile and needs no package, so it does not wait for them.
    Promise.all([make(temporalCli), make(packages).then(() => Promise.all([make(bundle), make(consoleFiles)]))]),
  );
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
}

/** Becomes the command as far as a process can: same streams, signals passed on, same end. */
async function run([command, ...args]) {
  const node = existsSync(PINNED_NODE) ? PINNED_NODE : process.execPath;
  const child = spawn(command === 'node' ? node : command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [BIN, process.env.PATH].join(delimiter),
      ...quickStart(process.env),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends Ctrl-C to the command itself; a second one would mean "at once".
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
