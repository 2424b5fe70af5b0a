/**
 * The embedded Postgres: PGlite (Postgres as WebAssembly) in a process of its own, behind a socket that speaks the
 * Postgres protocol. Run as a child with an IPC channel; it ends when that channel closes, so that a killed parent
 * leaves nothing behind, and takes the processes it was told to watch with it.
 *
 * Arguments: data directory (or `memory://`), port (0: any).
 */
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { PostgresServerMessage } from './postgres.ts';

const [dataDir = 'memory://', port = '0'] = process.argv.slice(2);
const watched = new Set<number>();

const db = await PGlite.create({ dataDir, extensions: { vector } });
// One connection at a time: with several, one that holds a transaction while another queries hangs them all. The socket
// server refuses the second one; a client that reconnects at once would meet that, so here it waits for its turn.
const socketPath = join(await mkdtemp(join(tmpdir(), 'aos-pg-')), 'postgres.sock');
const server = new PGLiteSocketServer({ db, path: socketPath, maxConnections: 1 });
await server.start();

const waiting: Socket[] = [];
let serving = false;
function serveNext(): void {
  const client = waiting.shift();
  if (!client || serving) return;
  if (client.destroyed) return serveNext();
  serving = true;
  const upstream = connect(socketPath);
  upstream.on('close', () => {
    client.destroy();
    // A transaction left open is rolled back by the socket server one turn of the event loop after the close; then the
    // next client finds a session as new as on any Postgres: no prepared statements, no settings of the one before.
    setTimeout(() => {
      void db
        .exec('discard all')
        .catch(() => {})
        .then(() => {
          serving = false;
          serveNext();
        });
    }, 5);
  });
  upstream.on('error', () => upstream.destroy());
  client.on('close', () => upstream.destroy());
  client.on('data', () => (isUsed = true));
  client.pipe(upstream);
  upstream.pipe(client);
}
const front = createServer({ noDelay: true }, (client) => {
  client.on('error', () => client.destroy());
  waiting.push(client);
  if (!serving) serveNext();
});
front.listen(Number(port), '127.0.0.1', () => {
  process.send?.({ event: 'ready', port: (front.address() as AddressInfo).port });
});

// What autovacuum does elsewhere: without statistics the planner reads a whole table to sort it, and dead rows stay.
const UPKEEP_MS = 60_000;
const VACUUM_EVERY = 15;
let isUsed = false;
let round = 0;
const upkeep = setInterval(() => {
  if (!isUsed) return;
  isUsed = false;
  round += 1;
  void db.exec(round % VACUUM_EVERY === 0 ? 'vacuum analyze' : 'analyze').catch(() => {});
}, UPKEEP_MS);

let stopping = false;
async function stop({ isOrphan }: { isOrphan: boolean }): Promise<void> {
  if (stopping) return;
  stopping = true;
  clearInterval(upkeep);
  front.close();
  await server.stop().catch(() => {});
  // An orphan ends at once: the next start is waiting for its directory.
  if (isUsed && !isOrphan) await db.exec('analyze').catch(() => {});
  await db.close().catch(() => {});
  await rm(dirname(socketPath), { recursive: true, force: true });
  process.exit(0);
}

process.on('message', (message: PostgresServerMessage) => {
  if (message.event === 'watch') watched.add(message.pid);
  if (message.event === 'stop') void stop({ isOrphan: false });
});
process.on('disconnect', () => {
  for (const pid of watched) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // Gone already.
    }
  }
  void stop({ isOrphan: true });
});
// Ctrl-C reaches the whole process group; the parent stops this one when it has drained its own work.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
