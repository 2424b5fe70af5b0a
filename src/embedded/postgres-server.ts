/**
 * The embedded Postgres: PGlite (Postgres as WebAssembly) in a process of its own, behind a socket that speaks the
 * Postgres protocol. Run as a child with an IPC channel; it ends when that channel closes, so that a killed parent
 * leaves nothing behind, and takes the processes it was told to watch with it.
 *
 * Arguments: data directory (or `memory://`), port (0: any), and, optional, the directory that a new one is copied from.
 */
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { portOf } from '../platform/core/port.ts';
import { APPLICATION_NAME } from '../platform/db/application-name.ts';
import { publishDurably, syncTree } from '../platform/files/durable.ts';
import { DurableNodeFS, durableStartParams } from './durable-node-fs.ts';
import type { PostgresServerMessage } from './postgres.ts';
import { createFront } from './postgres-front.ts';
import { converse } from './postgres-session.ts';
import { keepUp } from './upkeep.ts';

const [dataDir = 'memory://', port = '0', from] = process.argv.slice(2);
/** All of it is in memory from the start on, whether it is used or not; what is not in it is in the system's cache of files. */
const SHARED_BUFFERS_MB = 32;
const watched = new Set<number>();
let stopping = false;
/** A process that is ending may hold the lock for a moment. */
const LOCK_MS = 5_000;
/** The variable keeps the lock, which ends with what holds it. */
let lock: DatabaseSync | undefined;

requireAlone(dataDir);
if (from) await beginAsCopy(dataDir, from);
const isInMemory = dataDir.startsWith('memory:');
const isNew = !existsSync(dataDir);
// What a killed server wrote may not be on the disk yet.
if (!isInMemory && !isNew) await syncTree(dataDir);
const db = await PGlite.create({
  ...(isInMemory ? { dataDir } : { fs: new DurableNodeFS(dataDir) }),
  extensions: { vector },
  startParams: [...durableStartParams(PGlite.defaultStartParams), '-c', `shared_buffers=${SHARED_BUFFERS_MB}MB`],
});
// The program that makes a database from nothing syncs none of its files.
if (!isInMemory && isNew) await syncTree(dataDir);
// One connection at a time: with several, one that holds a transaction while another queries hangs them all.
const front = createFront({
  converse: (socket, startup) => converse(db, socket, startup, abandon),
  service: APPLICATION_NAME,
  renew,
  onUse: () => void (isUsed = true),
});
front.listen(Number(port), '127.0.0.1', () => {
  process.send?.({ event: 'ready', port: portOf(front) });
});

const UPKEEP_MS = 60_000;
let isUsed = false;
const upkeep = setInterval(() => {
  if (!isUsed) return;
  isUsed = false;
  void keepUp(db).catch(() => {});
}, UPKEEP_MS);

/**
 * Refuses a second server on one directory, which would write over what the first one writes. The lock is this
 * process's own, so that it holds for as long as the directory is in use, whoever started it and whatever is known of
 * it.
 */
function requireAlone(directory: string): void {
  if (directory.startsWith('memory:')) return;
  lock = new DatabaseSync(`${directory}.lock`, { timeout: LOCK_MS });
  try {
    lock.exec('begin exclusive');
  } catch {
    process.stderr.write(`another process has the database in ${directory}; stop it first\n`);
    process.exit(1);
  }
}

/**
 * Leaves a whole copy or none, whenever this process is killed. Without a copy, Postgres makes a database from nothing.
 */
async function beginAsCopy(directory: string, origin: string): Promise<void> {
  if (existsSync(directory) || !existsSync(origin)) return;
  const unfinished = `${directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  // A thousand files: Node's own copy takes ten times the processor's time.
  await promisify(execFile)('cp', ['-R', origin, unfinished]);
  await publishDurably(unfinished, directory);
}

/** Leaves nothing of the client that was there. */
async function renew(): Promise<void> {
  if (db.isInTransaction()) await db.exec('rollback');
  await db.exec('discard all');
}

/** What the files hold is right; a new process reads it from there. */
function abandon(error: unknown): void {
  if (stopping) return;
  process.stderr.write(`the database failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

async function stop({ isOrphan }: { isOrphan: boolean }): Promise<void> {
  if (stopping) return;
  stopping = true;
  clearInterval(upkeep);
  front.close();
  // An orphan ends at once: the next start is waiting for its directory.
  if (isUsed && !isOrphan) {
    await renew()
      .then(() => keepUp(db))
      .catch(() => {});
  }
  await db.close().catch(() => {});
  lock?.close();
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
      // The process is gone already.
    }
  }
  void stop({ isOrphan: true });
});
// Ctrl-C reaches the whole process group; the parent stops this one when it has drained its own work.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
