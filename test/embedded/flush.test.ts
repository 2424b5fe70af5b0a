/** A file of another process that is brought to the disk little by little, and that Temporal's log is such a file. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { appendFileSync, rmSync, utimesSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepFlushed } from '../../src/embedded/flush.ts';
import { findTemporalCli, startTemporal } from '../../src/embedded/temporal.ts';
import { present } from '../../src/platform/core/present.ts';

let folder: string;
let path: string;
let stop: () => void;
const flush = jest.fn<(path: string, isFirst: boolean) => Promise<void>>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-flush-'));
  path = join(folder, 'log');
});
beforeEach(() => {
  rmSync(path, { force: true });
  flush.mockReset().mockResolvedValue();
  // What other tests of this process left ticking asks it for more than fakes have.
  jest.useFakeTimers({ doNotFake: ['performance'] });
  stop = keepFlushed(path, { everyMs: 10, flush });
});
afterEach(() => {
  stop();
  jest.useRealTimers();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let writes = 0;
/** As another process does; two of one moment would have one time. */
function write(): void {
  appendFileSync(path, 'more');
  utimesSync(path, 0, ++writes);
}
const looks = (times: number) => jest.advanceTimersByTimeAsync(times * 10);

// Guards: what is written is brought to the disk, and nothing is where nothing was written, or where there is no file.
test('is flushed once for what was written, however often it is looked at', async () => {
  await looks(3);
  expect(flush).not.toHaveBeenCalled();
  write();
  await looks(3);
  // With the name of the file, which is new.
  expect(flush.mock.calls).toEqual([[path, true]]);
  write();
  await looks(3);
  expect(flush.mock.calls.slice(1)).toEqual([[path, false]]);
  rmSync(path);
  await looks(3);
  expect(flush).toHaveBeenCalledTimes(2);
});

// Guards: a slow disk is not asked for the same again and again, and what was written while it worked is not forgotten.
test('is flushed by one at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  flush.mockReturnValueOnce(promise);
  write();
  await looks(2);
  write();
  await looks(2);
  expect(flush).toHaveBeenCalledTimes(1);
  resolve();
  await looks(3);
  expect(flush).toHaveBeenCalledTimes(2);
});

// Guards: a disk that refuses ends nothing, and is asked again; nothing is asked once it is over.
test('is tried again until it is over', async () => {
  flush.mockRejectedValueOnce(new Error('no space'));
  write();
  await looks(3);
  expect(flush).toHaveBeenCalledTimes(2);
  stop();
  write();
  await looks(3);
  expect(flush).toHaveBeenCalledTimes(2);
});

// Guards against: a log that is brought to the disk 32 MB at once, for which a start of a workflow waits.
test('is the log of the embedded Temporal', async () => {
  jest.useRealTimers();
  await using any = await open(folder);
  const isCalled = (name: 'datasync' | 'sync') => {
    const { promise, resolve } = Promise.withResolvers<void>();
    jest.spyOn(Object.getPrototypeOf(any), name).mockImplementation(async () => resolve());
    return promise;
  };
  // The second one is for the directory, which has the name of the new log.
  const areFlushed = [isCalled('datasync'), isCalled('sync')];
  const dbFile = join(folder, 'temporal.db');
  const temporal = await startTemporal({ cliPath: present(await findTemporalCli(process.env)), dbFile });
  try {
    await Promise.all(areFlushed);
  } finally {
    await temporal.stop();
    jest.restoreAllMocks();
  }
});
