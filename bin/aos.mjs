#!/usr/bin/env node
/**
 * Runs `aos`, the command line, on the pinned Node, whatever Node the machine has. It sets everything up first where
 * the command starts the service, and where the packages are missing or belong to another version, as after a `git
 * pull`.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { quickStart } from '../src/embedded/quick-start.mjs';
import { packages, PINNED_NODE } from '../src/embedded/setup-steps.mjs';

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const args = process.argv.slice(2);
const isReady = !['start', 'demo'].includes(args[0]) && packages.isCurrent();

const command = isReady
  ? [PINNED_NODE, inRoot('src/cli.ts'), ...args]
  : [process.execPath, inRoot('src/embedded/setup.mjs'), '--', 'node', inRoot('src/cli.ts'), ...args];
const env = { ...process.env, ...quickStart(process.env) };
// Newer versions of Node can be replaced by the command, so that nothing waits beside it.
process.execve?.(command[0], command, env);
const child = spawn(command[0], command.slice(1), { stdio: 'inherit', env });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // A terminal sends Ctrl-C to the command itself, and a second one would mean "end at once".
  process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal));
}
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = code ?? 1;
});
