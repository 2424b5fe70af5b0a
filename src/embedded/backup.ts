/**
 * Makes a copy of a data directory in one file, and a data directory from such a copy. It works only while nothing
 * writes there: the database, Temporal and the files are then of one moment.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, readdir, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../platform/core/causes.ts';
import { ConfigError } from '../platform/core/config.ts';
import { makeDirectoryDurably, publishDurably } from '../platform/files/durable.ts';
import { PORTS_FILE } from './ports.ts';
import { forgetService } from './credentials.ts';
import { claimDataDir } from './stale.ts';

/** These files belong to the processes that had the directory, and are of no use to others: a copy may run beside it. */
const LEFT_OUT = ['service.lock', 'processes.json', PORTS_FILE];
/** Every data directory of the embedded database has these. */
const KEPT = ['secrets.json', 'postgres'];

/** @throws ConfigError while a service runs on the directory */
export async function backUp(dataDir: string, file: string): Promise<void> {
  await requireDataDir(dataDir, `DATA_DIR: ${dataDir} holds no data of an embedded service`);
  const claim = await claimDataDir(dataDir);
  const unfinished = `${resolve(file)}.${process.pid}`;
  try {
    await tar('-czf', unfinished, '-C', dataDir, ...LEFT_OUT.map((name) => `--exclude=./${name}`), '.');
    // The copy contains every secret of the service.
    await chmod(unfinished, 0o600);
    await publishDurably(unfinished, resolve(file));
  } finally {
    await rm(unfinished, { force: true });
    claim.release();
  }
}

/** Restores a directory whole or not at all. @throws ConfigError where it holds something already */
export async function restore(file: string, dataDir: string): Promise<void> {
  const there = await readdir(dataDir).catch((): string[] => []);
  if (there.length > 0)
    throw new ConfigError(`DATA_DIR: ${dataDir} is not empty; move it away or set another directory`);
  const unfinished = `${resolve(dataDir)}.${process.pid}`;
  try {
    await makeDirectoryDurably(unfinished, { mode: 0o700 });
    await tar('-xzf', resolve(file), '-C', unfinished, '--no-same-owner');
    await requireDataDir(unfinished, `${file} is no backup of an embedded service`);
    await forgetService(unfinished);
    await rmdir(dataDir).catch(() => {});
    await publishDurably(unfinished, resolve(dataDir));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function requireDataDir(directory: string, otherwise: string): Promise<void> {
  for (const name of KEPT) {
    await access(join(directory, name)).catch(() => {
      throw new ConfigError(otherwise);
    });
  }
}

async function tar(...args: string[]): Promise<void> {
  const child = spawn('tar', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-1_000)));
  const [code] = await once(child, 'close').catch((error: unknown) => {
    throw new ConfigError(`tar could not be run: ${messageOf(error)}`);
  });
  if (code !== 0) throw new ConfigError(`tar failed: ${stderr.trim()}`);
}
