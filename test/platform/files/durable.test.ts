/** That what is written below DATA_DIR is on the disk when its writer says so: each writer, with its file calls recorded. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { backUp, restore } from '../../../src/embedded/backup.ts';
import { dropKeptSession, keepSession, writeCredentials } from '../../../src/embedded/credentials.ts';
import { localIdentity } from '../../../src/embedded/identity.ts';
import { keptUiPort } from '../../../src/embedded/ports.ts';
import { writePrivateJson } from '../../../src/embedded/private-file.ts';
import { loadSecrets } from '../../../src/embedded/secrets.ts';
import { claimDataDir } from '../../../src/embedded/stale.ts';
import { makeDirectoryDurably, publishDurably, writeStreamDurably } from '../../../src/platform/files/durable.ts';
import { createFileStore } from '../../../src/platform/files/files.ts';
import { recordPromises, unsyncedBelow, wroteUnsynced } from '../../support/faults/unsynced-promises.ts';

let folder: string;
let stopRecording: () => void;
const path = process.env.PATH;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'aos-durable-writes-'));
  // Without the program that syncs a whole file system each file is synced by itself, which can be recorded.
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  for (const name of ['tar', 'gzip', 'ps']) {
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(programs, name));
  }
  process.env.PATH = programs;
  stopRecording = recordPromises();
});
afterAll(() => {
  stopRecording();
  process.env.PATH = path;
  rmSync(folder, { recursive: true });
});

const data = () => join(folder, 'data');
const files = () => createFileStore({ DATA_DIR: data(), FILES_S3_REGION: 'us-east-1' });
const credentials = {
  base_url: null,
  control_plane_url: null,
  temporal_address: '',
  temporal_ui_url: null,
  database_url: '',
  api_key: 'k',
  session_cookie: '',
  operator_token: '',
};

const WRITERS: Record<string, () => Promise<unknown>> = {
  'a directory with its parents': () => makeDirectoryDurably(join(data(), 'a/b/c')),
  'a directory that exists': () => makeDirectoryDurably(data()),
  'a private file': () => writePrivateJson(join(data(), 'private.json'), { a: 1 }),
  'a private file, again': () => writePrivateJson(join(data(), 'private.json'), { a: 2 }),
  'secrets.json': () => loadSecrets({}, data()),
  'identity.json and jwks.json': () => localIdentity({}, data()),
  'ports.json': () => keptUiPort(data(), { warn: () => {} }),
  'processes.json': async () => (await claimDataDir(data())).release(),
  'credentials.json': () => writeCredentials(data(), credentials),
  'a session': () => keepSession(join(data(), 'of-a-person'), { base_url: '', session: 's' }),
  'the end of a session': () => dropKeptSession(join(data(), 'of-a-person')),
  'a file': () => files().put('acme/projects/one', Buffer.from('bytes'), 'text/plain'),
  'a file, over another': () => files().put('acme/projects/one', Buffer.from('other bytes'), 'text/plain'),
  'a file in a new folder of an old one': () => files().put('acme/new/two', Buffer.from('bytes'), 'text/plain'),
  'a file in folders that another process has just created': async () => {
    await makeDirectoryDurably(join(folder, 'shared'));
    await mkdir(join(folder, 'shared/files/acme'), { recursive: true });
    const store = createFileStore({ DATA_DIR: join(folder, 'shared'), FILES_S3_REGION: 'us-east-1' });
    await store.put('acme/one', Buffer.from('bytes'), 'text/plain');
  },
  'an empty file': () => files().put('acme/empty', Buffer.alloc(0), 'text/plain'),
  'a stream': () => files().putStream('acme/streams/deep/three', Readable.from(['many ', 'bytes']), 'text/plain'),
  'a deleted file': () => files().delete('acme/new/two'),
  'a deleted file that is not there': () => files().delete('acme/nowhere/four'),
  'a deleted folder': () => files().deleteAll('acme/streams'),
  'all of a workspace deleted': () => files().deleteAll('acme'),
};

// Guards against: files that are empty after a power loss, and rows whose file is gone.
test.each(Object.entries(WRITERS))('%s is on the disk when it is said to be', async (_, write) => {
  await write();
  expect(unsyncedBelow(folder)).toEqual([]);
});

// Guards: many uploads into one new folder at a time; none is said to be stored before the folder is.
test('files that arrive together are', async () => {
  const store = files();
  await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      await store.put(`together/${i % 3}/file-${i}`, Buffer.from(`${i}`), 'text/plain');
      const own = join(data(), 'files/together', `${i % 3}`);
      expect(unsyncedBelow(join(own, `file-${i}`))).toEqual([]);
    }),
  );
  expect(unsyncedBelow(folder)).toEqual([]);
});

// Guards: a name is given to bytes that are on the disk, and never before.
test('a write that fails leaves the file and no other', async () => {
  const file = join(data(), 'kept.json');
  await writePrivateJson(file, 'before');
  const failing = Readable.from(
    (async function* () {
      yield 'half';
      throw new Error('the connection ended');
    })(),
  );
  await expect(writeStreamDurably(file, failing, `${file}.new`)).rejects.toThrow('the connection ended');
  expect(readFileSync(file, 'utf8')).toBe('"before"\n');
  expect(readdirSync(data()).filter((name) => name.startsWith('kept'))).toEqual(['kept.json']);
});

// Guards: a backup that was said to be made is whole after a power loss, and so is what is restored from it.
test('a backup and what is restored of it are on the disk', async () => {
  mkdirSync(join(data(), 'postgres/base'), { recursive: true });
  writeFileSync(join(data(), 'postgres/base/1'), 'rows');
  await writePrivateJson(join(data(), 'secrets.json'), {});
  const backup = join(folder, 'backup.tar.gz');
  await backUp(data(), backup);
  expect(unsyncedBelow(folder)).toEqual([]);
  await restore(backup, join(folder, 'restored'));
  expect(unsyncedBelow(folder)).toEqual([]);
  expect(readFileSync(join(folder, 'restored/postgres/base/1'), 'utf8')).toBe('rows');
});

// Guards: of a tree that another program wrote each file and each directory is synced before it has its name.
test('a published tree is on the disk', async () => {
  const unfinished = join(folder, 'tree.unfinished');
  mkdirSync(join(unfinished, 'deep/er'), { recursive: true });
  for (const name of ['one', 'deep/two', 'deep/er/three']) writeFileSync(join(unfinished, name), name);
  wroteUnsynced(
    unfinished,
    ...['one', 'deep', 'deep/two', 'deep/er', 'deep/er/three'].map((name) => join(unfinished, name)),
  );
  await publishDurably(unfinished, join(folder, 'tree'));
  expect(unsyncedBelow(folder)).toEqual([]);
});
