/**
 * Keeps an embedded server running: one that ends by itself (killed, out of memory) is started again at the same address
 * on the same data, and the service above it connects anew as it would after any outage.
 */
import type { ChildProcess } from 'node:child_process';

/** The exit code of a process, or the signal that ended it. */
export type End = [code: number | null, signal: NodeJS.Signals | null];

export interface EmbeddedServer {
  /** As a person is told of it. */
  name: string;
  pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  exited: Promise<End>;
  stop(): Promise<void>;
}

export const endOf = (child: ChildProcess): Promise<End> =>
  new Promise((resolve) => child.once('exit', (...end) => resolve(end)));

export type Loss = { end: End } | { error: unknown };

export interface Supervised<Server> {
  /** @returns the server that runs now, which is another one after a restart */
  current(): Server;
  stop(): Promise<void>;
}

const MAX_WAIT_MS = 5_000;

/**
 * @param start is given the server that was lost, or nothing the first time; a failure of the first start is the
 * caller's
 * @param onLost is told how a server ended each time that one ended by itself, and why a restart failed
 */
export async function supervise<Server extends EmbeddedServer>(
  start: (lost?: Server) => Promise<Server>,
  onLost: (server: Server, loss: Loss) => void,
): Promise<Supervised<Server>> {
  let server = await start();
  let isStopping = false;

  async function restart(): Promise<void> {
    for (let waitMs = 100; !isStopping; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        server = await start(server);
        return;
      } catch (error) {
        onLost(server, { error });
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }
  async function watch(): Promise<void> {
    while (!isStopping) {
      const end = await server.exited;
      if (isStopping) break;
      onLost(server, { end });
      await restart();
    }
    // This one was being started again meanwhile.
    await server.stop();
  }
  const watching = watch();

  return {
    current: () => server,
    async stop() {
      isStopping = true;
      await server.stop();
      await watching;
    },
  };
}
