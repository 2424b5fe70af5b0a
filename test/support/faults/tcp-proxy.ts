/** A wire between two parts that a test can cut: refuse connections, or let them hang. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../processes/listening.ts';

export interface TcpProxy {
  /** host:port */
  address: string;
  /** Breaks what is open. `refuse`: new connections fail at once; `hang`: they open and nothing ever comes back. */
  cut(how: 'refuse' | 'hang'): Promise<void>;
  /** What is open stays open, and nothing arrives on it any more, either way. */
  silence(): void;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host, port] = target.split(':');
  const open = new Set<Socket>();
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  };
  let isHanging = false;
  const server = createServer((client) => {
    keep(client);
    if (isHanging) return;
    const upstream = connect(Number(port), host);
    keep(upstream);
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const own = portOf(server);

  const stop = async () => {
    for (const socket of open) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return {
    address: `127.0.0.1:${own}`,
    async cut(how) {
      await stop();
      isHanging = how === 'hang';
      if (isHanging) await listen(own);
    },
    silence() {
      isHanging = true;
      for (const socket of open) socket.unpipe().pause();
    },
    async restore() {
      await stop();
      isHanging = false;
      await listen(own);
    },
    close: stop,
  };
}
