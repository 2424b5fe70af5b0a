/**
 * Keeps an embedded server running: one that ends by itself (killed, out of memory) is started again at the same address
 * on the same data, and the service above it connects anew as it would after any outage.
 */
export interface EmbeddedServer {
  pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

export interface Supervised<Server> {
  /** @returns the server that runs now, which is another one after a restart */
  current(): Server;
  stop(): Promise<void>;
}

const MAX_WAIT_MS = 5_000;

/**
 * @param start is given the server that was lost, or nothing the first time; a failure of the first start is the
 * caller's
 * @param onLost is told each time a server ended by itself, and why a restart failed
 */
export async function supervise<Server extends EmbeddedServer>(
  start: (lost?: Server) => Promise<Server>,
  onLost: (error?: unknown) => void,
): Promise<Supervised<Server>> {
  let server = await start();
  let isStopping = false;

  async function restart(): Promise<void> {
    onLost();
    for (let waitMs = 100; !isStopping; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        server = await start(server);
        return;
      } catch (error) {
        onLost(error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }
  async function watch(): Promise<void> {
    while (!isStopping) {
      await server.exited;
      if (!isStopping) await restart();
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
