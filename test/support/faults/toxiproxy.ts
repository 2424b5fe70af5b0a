/**
 * Toxiproxy, the fault proxy of the network proofs: a wire for each link between two parts, which can be slowed, cut into
 * bits, reset, silenced or taken down. The server is found on PATH, or built once with `go` into the project's cache.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Toxiproxy, type ICreateToxicBody, type Proxy } from 'toxiproxy-node-client';
import { present } from '../../../src/platform/core/present.ts';
import { endWithUs } from '../../bench/processes.ts';
import { buildGoProgram } from '../programs/go-program.ts';
import { quietPort } from '../processes/ports.ts';

const VERSION = 'v2.12.0';
const MODULE = 'github.com/Shopify/toxiproxy/v2/cmd/server';
const CACHE = fileURLToPath(new URL('../../../.cache', import.meta.url));
const BUILT = join(CACHE, 'bin', `toxiproxy-server-${VERSION}`);

/** What can be wrong with a wire. Times in milliseconds. */
export type Fault =
  | { kind: 'latency'; latency: number; jitter: number }
  /** Each connection is reset as soon as anything is said on it. */
  | { kind: 'reset' }
  /** Connections stay open, and nothing arrives. */
  | { kind: 'silence' }
  /** Kilobytes a second, in small bits. */
  | { kind: 'trickle'; rate: number; sliceBytes: number }
  /** Open connections break, and new ones are refused. */
  | { kind: 'down' };

export interface Wire {
  /** host:port */
  address: string;
  break(fault: Fault): Promise<void>;
  mend(): Promise<void>;
}

interface FaultProxy {
  wire(name: string, to: string): Promise<Wire>;
  close(): Promise<void>;
}

/** @returns why there is none, in a sentence, where it can neither be found nor built */
export async function startToxiproxy(): Promise<FaultProxy | string> {
  const program = await findServer();
  if (!program.path) return program.reason;
  const port = await quietPort();
  const child = spawn(program.path, ['-host', '127.0.0.1', '-port', String(port)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, LOG_LEVEL: 'info' },
  });
  const ended = once(child, 'exit');
  endWithUs(present(child.pid));
  await answering(child.stdout, ended);
  const server = new Toxiproxy(`http://127.0.0.1:${port}`);
  return {
    async wire(name, upstream) {
      return wireOf(await server.createProxy({ name, listen: '127.0.0.1:0', upstream, enabled: true }));
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Its first line says that it listens, or why it does not. */
async function answering(output: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<void> {
  await Promise.race([once(output, 'data'), ended.then(() => Promise.reject(new Error('toxiproxy ended at once')))]);
  output.resume();
}

function wireOf(made: Proxy): Wire {
  let proxy = made;
  let toxics: { remove(): Promise<void> }[] = [];
  // Asked for its own address again, as it would choose another port otherwise.
  const enable = async (enabled: boolean) => {
    proxy = await proxy.update({ enabled, listen: proxy.listen, upstream: proxy.upstream });
  };
  return {
    address: made.listen,
    async break(fault) {
      if (fault.kind === 'down') return enable(false);
      for (const toxic of toxicsOf(fault)) toxics.push(await proxy.addToxic(toxic));
    },
    async mend() {
      for (const toxic of toxics) await toxic.remove();
      toxics = [];
      if (!proxy.enabled) await enable(true);
    },
  };
}

type AnyToxic = ICreateToxicBody<Record<string, number>>;

function toxicsOf(fault: Exclude<Fault, { kind: 'down' }>): AnyToxic[] {
  const both = (type: AnyToxic['type'], attributes: Record<string, number>): AnyToxic[] =>
    (['upstream', 'downstream'] as const).map((stream) => ({
      name: `${type}-${stream}`,
      type,
      stream,
      toxicity: 1,
      attributes,
    }));
  switch (fault.kind) {
    case 'latency':
      return both('latency', { latency: fault.latency, jitter: fault.jitter });
    case 'reset':
      return both('reset_peer', { timeout: 0 });
    case 'silence':
      return both('timeout', { timeout: 0 });
    case 'trickle':
      return [
        ...both('slicer', { average_size: fault.sliceBytes, size_variation: fault.sliceBytes >> 1, delay: 100 }),
        ...both('bandwidth', { rate: fault.rate }),
      ];
  }
}

async function findServer(): Promise<{ path?: string; reason: string }> {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'toxiproxy-server'));
  const path = [...onPath, BUILT].find(existsSync);
  if (path) return { path, reason: '' };
  try {
    await buildGoProgram(`${MODULE}@${VERSION}`, BUILT);
    return { path: BUILT, reason: '' };
  } catch (error) {
    const [reason] = String((error as Error).message).split('\n');
    return { reason: `toxiproxy-server is neither on PATH nor can it be built with go (${reason})` };
  }
}
