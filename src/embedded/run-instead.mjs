/** May be run by any Node >= 20 before a single package exists, so nothing here may import one. */
import { spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { whenNpmIsGone } from './npm-parent.mjs';

/**
 * Runs a program as if it replaced this process: it has the same streams, signals are passed on to it, and its exit code
 * becomes ours. Where this Node can, it does replace it, so that nothing waits beside a service for as long as it runs.
 * Rejects when it cannot be started.
 */
export async function runInstead(program, args, env) {
  if (isAbsolute(program)) process.execve?.(program, [program, ...args], env);
  const child = spawn(program, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends Ctrl-C to the command itself, and a second one would mean "end at once".
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal));
  }
  whenNpmIsGone(() => child.kill('SIGTERM'));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (...end) => resolve(end));
  });
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = code ?? 1;
}
