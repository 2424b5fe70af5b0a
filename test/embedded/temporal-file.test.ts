/** The database file of the embedded Temporal after a first start that was cut off. The real server, and SQLite. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporalCli, startTemporal } from '../../src/embedded/temporal.ts';
import { removeUnfinishedDatabase } from '../../src/embedded/temporal-file.ts';
import { present } from '../../src/platform/core/present.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aos-temporal-file-'));
  file = join(folder, 'temporal.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function startAndStop(signal?: NodeJS.Signals): Promise<void> {
  const server = await startTemporal({ cliPath: present(await findTemporalCli(process.env)), dbFile: file });
  if (signal) process.kill(server.pid, signal);
  else await server.stop();
  await server.exited;
}

// Guards against: a service that never starts again because the power went while Temporal made its tables.
test('a file without all of its tables is made again', async () => {
  writeFileSync(file, '');
  await removeUnfinishedDatabase(file);
  expect(existsSync(file)).toBe(false);
  const half = new DatabaseSync(file);
  half.exec('pragma journal_mode = wal; create table namespaces (id text); create table executions (id text)');
  half.close();
  await removeUnfinishedDatabase(file);
  await startAndStop();
});

// Guards: a finished file is left alone, with what is only in its log, and so is one that cannot be read.
test('any other file stays', async () => {
  await removeUnfinishedDatabase(file);
  await startAndStop('SIGKILL');
  const { ino } = statSync(file);
  await removeUnfinishedDatabase(file);
  await startAndStop();
  await removeUnfinishedDatabase(file);
  expect(statSync(file).ino).toBe(ino);
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  writeFileSync(file, 'something else '.repeat(1_000));
  await removeUnfinishedDatabase(file);
  expect(existsSync(file)).toBe(true);
});
