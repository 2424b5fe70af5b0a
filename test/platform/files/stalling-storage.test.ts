/** S3-compatible storage that stops in the middle of a file, and readers that take their time. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createFileStore, type FileStore } from '../../../src/platform/files/files.ts';
import { StorageUnavailable } from '../../../src/platform/files/storage-away.ts';
import { standBefore, type Front } from '../../support/faults/front.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';

/** More than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(40 * 2 ** 20, 'x');
const ANSWERED_MS = 40_000;
/** Longer than the storage may be silent. */
const SLOW_MS = 4_000;

let storage: S3Gateway;
let front: Front;
let files: FileStore;
const later: string[] = [];
beforeAll(async () => {
  storage = await startS3Gateway('files');
  front = await standBefore(storage.url);
  const settings = {
    DATA_DIR: 'unused',
    FILES_S3_REGION: 'us-east-1',
    ...storage.settings,
    FILES_S3_ENDPOINT: front.url,
  };
  files = createFileStore(settings, async (key) => void later.push(key));
  await files.put('large', LARGE, 'text/plain');
}, BUILD_MS);
afterEach(() => {
  front.before = () => {};
  storage.thaw();
});
afterAll(async () => {
  front?.shut();
  await storage?.close();
});

async function failing(work: () => Promise<unknown>): Promise<unknown> {
  const startedAt = performance.now();
  const failed = await work().then(
    () => 'nothing',
    (error: unknown) => error,
  );
  expect(performance.now() - startedAt).toBeLessThan(ANSWERED_MS);
  return failed;
}

// Guards: a writer is told in time, however large the file is, and whatever it had given may arrive.
test.each([
  ['a stream', () => files.putStream('stream', Readable.from([LARGE], { objectMode: false }), 'text/plain')],
  ['bytes', () => files.put('bytes', LARGE.subarray(0, 2 ** 20), 'text/plain')],
])('%s that the storage does not take fails', async (_, write) => {
  front.before = (method) => method === 'PUT' && storage.freeze();
  const failed = await failing(write);
  expect(failed).toMatchObject({ code: 'storage_unavailable', said: 'does not answer', mayHaveWritten: true });
});

// Guards: an upload that could not be stored is deleted when it may have arrived; one that was never sent needs nothing.
test('only a write that may arrive is discarded later', async () => {
  front.before = (method) => method === 'PUT' && storage.freeze();
  await files.discard('sent', await failing(() => files.put('sent', Buffer.from('x'), 'text/plain')));
  expect(later.splice(0)).toEqual(['sent']);
  // Frozen from before: it is not given the bytes.
  let written = 0;
  front.before = (method) => (written += Number(method === 'PUT'));
  await files.discard('unsent', await failing(() => files.put('unsent', Buffer.from('x'), 'text/plain')));
  expect([written, later.splice(0)]).toEqual([0, []]);
  await files.discardAll('folder');
  expect(later.splice(0)).toEqual(['folder/']);
});

// Guards: a reader is told when the rest of a file does not come.
test('a file that stops coming fails', async () => {
  const pieces = (await files.getStream('large'))[Symbol.asyncIterator]();
  await pieces.next();
  storage.freeze();
  const rest = async () => {
    while (!(await pieces.next()).done);
  };
  expect(await failing(rest)).toBeInstanceOf(StorageUnavailable);
});

// Guards against: a download that is cut because the caller is slow.
test('a reader takes its time', async () => {
  const slowly = new PassThrough({ highWaterMark: 1 });
  const reading = pipeline(await files.getStream('large'), slowly);
  await wait(SLOW_MS);
  const [whole] = await Promise.all([buffer(slowly), reading]);
  expect(whole.length).toBe(LARGE.length);
});

// Guards against: "the file is gone" where its bucket is.
test('a missing bucket is not a missing file', async () => {
  await storage.takeBucketAway();
  try {
    for (const ask of [files.get, files.getStream, files.sizeOf, files.delete, files.deleteAll]) {
      expect(await failing(() => ask('large'))).toMatchObject({ said: 'the bucket does not exist' });
    }
  } finally {
    await storage.giveBucketBack();
  }
});
