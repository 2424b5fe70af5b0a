import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createFileStore, FileNotFoundError, type FileStore } from '../../../src/platform/files/files.ts';

const settings = { FILES_S3_REGION: 'us-east-1' };

let folder: string;
let storage: Server;
const objects = new Map<string, { bytes: Buffer; contentType: string | undefined }>();

/** As much of the S3 protocol as put, get and delete take. */
const createStorage = (): Server =>
  createServer((request, response) => {
    const key = new URL(request.url!, 'http://storage').pathname;
    const object = objects.get(key);
    if (request.method === 'PUT') {
      void buffer(request).then((bytes) => {
        objects.set(key, { bytes, contentType: request.headers['content-type'] });
        response.end();
      });
    } else if (request.method === 'DELETE') {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (object) {
      response.end(object.bytes);
    } else {
      response.writeHead(404, { 'content-type': 'application/xml' });
      response.end('<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>gone</Message></Error>');
    }
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'));
  storage = createStorage();
  await new Promise<void>((ready) => storage.listen(0, '127.0.0.1', ready));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  storage.closeAllConnections();
  await new Promise((closed) => storage.close(closed));
});

const stores: Record<string, () => FileStore> = {
  'a local folder': () => createFileStore({ ...settings, DATA_DIR: folder }),
  'S3-compatible storage': () =>
    createFileStore({
      ...settings,
      DATA_DIR: join(folder, 'unused'),
      FILES_S3_BUCKET: 'bucket',
      FILES_S3_ENDPOINT: `http://127.0.0.1:${(storage.address() as AddressInfo).port}`,
      FILES_S3_ACCESS_KEY_ID: 'id',
      FILES_S3_SECRET_ACCESS_KEY: 'secret',
    }),
};

describe.each(Object.keys(stores))('%s', (name) => {
  let store: FileStore;
  beforeAll(() => (store = stores[name]!()));

  // Guards: what was put comes back byte for byte, small or large, and the last put wins.
  test.each([0, 1, 5_000, 300_000])('keeps %i bytes', async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => i % 256));
    await store.put('acme/run-1/a.bin', Buffer.from('old'), 'text/plain');
    await store.put('acme/run-1/a.bin', bytes, 'application/octet-stream');
    expect((await store.get('acme/run-1/a.bin')).equals(bytes)).toBe(true);
  });

  // Guards: a caller can tell a missing file from a broken store; deleting twice is no failure.
  test('names a missing file', async () => {
    await expect(store.get('acme/none')).rejects.toThrow(FileNotFoundError);
    await store.put('acme/short-lived', Buffer.from('x'), 'text/plain');
    await store.delete('acme/short-lived');
    await store.delete('acme/short-lived');
    await expect(store.get('acme/short-lived')).rejects.toThrow(FileNotFoundError);
  });

  // Guards: no key leaves the store's own folder or bucket.
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
    await expect(store.get(key)).rejects.toThrow('not a file key');
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
test('tells S3 the content type', () => {
  expect(objects.get('/bucket/acme/run-1/a.bin')?.contentType).toBe('application/octet-stream');
});
