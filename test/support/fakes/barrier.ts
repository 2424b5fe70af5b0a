/**
 * An HTTP server whose answers wait for each other: `/<name>?of=3` answers when three requests of that name are there.
 * What comes through has overlapped; no clock is asked.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { present } from '../../../src/platform/core/present.ts';
import { portOf } from '../processes/listening.ts';

export interface Barrier {
  /** Address at which `of` requests of this name wait for each other; without a number they wait for `open`. */
  url(name: string, of?: number): string;
  /** For `EGRESS_ALLOWLIST`. */
  hostAndPort: string;
  /** Resolves when that many requests of the name wait. */
  waiting(name: string, count: number): Promise<void>;
  open(name: string): void;
  close(): Promise<void>;
}

export async function startBarrier(): Promise<Barrier> {
  const held = new Map<string, ServerResponse[]>();
  const watchers = new Set<() => void>();
  const open = (name: string) => {
    for (const response of held.get(name) ?? []) response.end(`open: ${name}`);
    held.delete(name);
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(present(request.url), 'http://barrier');
    const name = pathname.slice(1);
    const waiting = [...(held.get(name) ?? []), response];
    held.set(name, waiting);
    for (const look of watchers) look();
    if (waiting.length >= Number(searchParams.get('of') ?? Infinity)) open(name);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  return {
    url: (name, of) => `http://${hostAndPort}/${name}${of === undefined ? '' : `?of=${of}`}`,
    hostAndPort,
    waiting: (name, count) =>
      new Promise((resolve) => {
        const look = () => {
          if ((held.get(name)?.length ?? 0) < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    open,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
