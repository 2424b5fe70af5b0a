/**
 * Stripe's own stand-in for its API, which checks every request against Stripe's specification and answers with its
 * fixtures. It keeps nothing: what needs memory is tested against `stripe-server.ts`. Built once with `go` into the
 * project's cache.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildGoProgram } from '../programs/go-program.ts';

const VERSION = 'v0.203.0';
const CACHE = fileURLToPath(new URL('../../../.cache', import.meta.url));
const PROGRAM = join(CACHE, 'bin', `stripe-mock-${VERSION}`);

export interface StripeMock {
  url: string;
  close(): Promise<void>;
}

/** @throws Error where it is not there and cannot be built */
export async function buildStripeMock(): Promise<void> {
  await buildGoProgram(`github.com/stripe/stripe-mock@${VERSION}`, PROGRAM);
}

export async function startStripeMock(): Promise<StripeMock> {
  const child = spawn(PROGRAM, ['-http-addr', '127.0.0.1:', '-https-addr', '127.0.0.1:'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const [, port] = /HTTP at address: 127\.0\.0\.1:(\d+)\D/.exec(said) ?? [];
      if (port) resolve(`http://127.0.0.1:${port}`);
    });
    child.once('error', reject).once('exit', () => reject(new Error(`stripe-mock ended while starting\n${said}`)));
  });
  return {
    url,
    async close() {
      child.stdout.destroy();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
