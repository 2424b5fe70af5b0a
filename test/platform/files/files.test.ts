import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { present } from '../../../src/platform/core/present.ts';
import { createFileStore, FileNotFoundError, type FileStore } from '../../../src/platform/files/files.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';

const settings = { FILES_S3_REGION: 'us-east-1' };

const { TMPDIR } = process.env;
let folder: string;
let storage: S3Gateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'));
  // Other files of tests spool as well.
  process.env.TMPDIR = join(folder, 'tmp');
  await mkdir(process.env.TMPDIR);
  storage = await startS3Gateway('bucket');
}, BUILD_MS);
afterAll(async () => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  await storage?.close();
  await rm(folder, { recursive: true });
});

const stores: Record<string, () => FileStore> = {
  'a local folder': () => createFileStore({ ...settings, DATA_DIR: folder }),
  'S3-compatible storage': () =>
    createFileStore({ ...settings, DATA_DIR: join(folder, 'unused'), ...storage.settings }),
};

describe.each(Object.keys(stores))('%s', (name) => {
  let store: FileStore;
  beforeAll(() => void (store = present(stores[name])()));

  // Guards: a stored file comes back byte for byte, small or large, and the last write wins.
  test.each([0, 1, 5_000, 300_000])('keeps %i bytes', async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => i % 256));
    await store.put('acme/run-1/a.bin', Buffer.from('old'), 'text/plain');
    await store.put('acme/run-1/a.bin', bytes, 'application/octet-stream');
    expect((await store.get('acme/run-1/a.bin')).equals(bytes)).toBe(true);
  });

  // Guards: a stream of unknown or zero length comes back byte for byte, as bytes and as a stream.
  test.each([0, 1, 300_000, 3_000_000])('keeps a stream of %i bytes', async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => i % 251));
    const chunks = Array.from({ length: Math.ceil(size / 50_000) }, (_, i) =>
      bytes.subarray(i * 50_000, (i + 1) * 50_000),
    );
    await store.putStream('acme/streamed', Readable.from(chunks, { objectMode: false }), 'text/csv');
    expect((await store.get('acme/streamed')).equals(bytes)).toBe(true);
    expect((await buffer(await store.getStream('acme/streamed'))).equals(bytes)).toBe(true);
  });

  // Guards: a file that was written half is not stored, and nothing of it is left anywhere.
  test('drops a stream that breaks off', async () => {
    const breaking = async function* () {
      yield Buffer.alloc(200_000);
      throw new Error('broke off');
    };
    await expect(store.putStream('broken/half', Readable.from(breaking()), 'text/plain')).rejects.toThrow('broke off');
    await expect(store.get('broken/half')).rejects.toThrow(FileNotFoundError);
    const left = await readdir(join(folder, 'files', 'broken')).catch(() => []);
    expect(left).toEqual([]);
    expect((await readdir(tmpdir())).filter((file) => file.endsWith('.upload'))).toEqual([]);
  });

  // Guards: a caller can tell a missing file from a broken store; deleting twice is no failure.
  test('names a missing file', async () => {
    await expect(store.get('acme/none')).rejects.toThrow(FileNotFoundError);
    await expect(store.sizeOf('acme/none')).rejects.toThrow(FileNotFoundError);
    await store.put('acme/short-lived', Buffer.from('x'), 'text/plain');
    await store.delete('acme/short-lived');
    await store.delete('acme/short-lived');
    await expect(store.get('acme/short-lived')).rejects.toThrow(FileNotFoundError);
  });

  // Guards: no key leads out of the store's own folder or bucket.
  test.each([
    '',
    '/etc/passwd',
    '../a',
    'a/../b',
    'a/..',
    '.hidden',
    'a//b',
    'a\\..\\b',
    'a\0b',
    'a b',
    'a/',
    'a'.repeat(513),
  ])('refuses the key %j', async (key) => {
    await expect(store.put(key, Buffer.from('x'), 'text/plain')).rejects.toThrow('not a file key');
    await expect(store.putStream(key, Readable.from(['x']), 'text/plain')).rejects.toThrow('not a file key');
    await expect(store.get(key)).rejects.toThrow('not a file key');
    await expect(store.getStream(key)).rejects.toThrow('not a file key');
    await expect(store.delete(key)).rejects.toThrow('not a file key');
  });
});

// Guards: writers of one key at once leave one whole file and nothing beside it.
test('replaces a local file in one step', async () => {
  const store = createFileStore({ ...settings, DATA_DIR: folder });
  const versions = Array.from({ length: 20 }, (_, i) => Buffer.alloc(100_000, i));
  await Promise.all(versions.map((bytes) => store.put('acme/contested', bytes, 'text/plain')));
  const winner = await store.get('acme/contested');
  expect(versions.some((bytes) => bytes.equals(winner))).toBe(true);
  expect((await readdir(join(folder, 'files', 'acme'))).filter((file) => file.endsWith('.tmp'))).toEqual([]);
});

// Guards: a download from the bucket itself has the right type.
test('tells S3 the content type', async () => {
  expect((await storage.get('acme/run-1/a.bin')).contentType).toBe('application/octet-stream');
  expect((await storage.get('acme/streamed')).contentType).toBe('text/csv');
});
