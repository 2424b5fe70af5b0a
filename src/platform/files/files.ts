/**
 * Stores bytes that are too large for a row: uploads, artifacts, avatars. The store is a local folder or any
 * S3-compatible storage. A file is there whole or not at all. Its bytes are on the disk before the row that names its
 * key is written, so that a power loss never leaves a row without its file.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Disk } from 'flydrive';
import { FSDriver } from 'flydrive/drivers/fs';
import { causesOf } from '../core/causes.ts';
import type { Config } from '../core/config.ts';
import { makeDirectoryDurably, syncDeletion, writeDurably, writeStreamDurably } from './durable.ts';
import { inTime, openBucket, type S3Bucket } from './s3.ts';
import { StorageUnavailable } from './storage-away.ts';

/** Every call that needs S3-compatible storage throws StorageUnavailable within seconds if that takes or gives nothing. */
export interface FileStore {
  /** The service makes the keys, never a caller. */
  put(key: string, bytes: Buffer, contentType: string): Promise<void>;
  /** Stores a stream without ever holding all of it. A stream that fails leaves nothing behind. */
  putStream(key: string, stream: Readable, contentType: string): Promise<void>;
  /** @throws FileNotFoundError */
  get(key: string): Promise<Buffer>;
  /** A missing file fails here or, in a local folder, when it is read. */
  getStream(key: string): Promise<Readable>;
  /** Returns the number of bytes that are stored. @throws FileNotFoundError */
  sizeOf(key: string): Promise<number>;
  /** Deleting a key that does not exist is no error. */
  delete(key: string): Promise<void>;
  /** Deletes everything in a folder: all keys that begin with its name and a slash. */
  deleteAll(folder: string): Promise<void>;
  /**
   * Deletes a file that nothing refers to, now or as soon as the storage takes it. Never fails.
   * @param failure of the write, if it failed: the bytes may arrive later
   */
  discard(key: string, failure?: unknown): Promise<void>;
  /** Discards everything in a folder. */
  discardAll(folder: string): Promise<void>;
}

/** Remembers files to delete later. A folder ends with a slash. */
export type DiscardLater = (key: string) => Promise<void>;

export class FileNotFoundError extends Error {}

type FileSettings = Pick<
  Config,
  | 'DATA_DIR'
  | 'FILES_S3_BUCKET'
  | 'FILES_S3_ENDPOINT'
  | 'FILES_S3_REGION'
  | 'FILES_S3_ACCESS_KEY_ID'
  | 'FILES_S3_SECRET_ACCESS_KEY'
>;

/**
 * A segment starts and ends with a letter, digit or underscore, so that none is `..` and flydrive has nothing to
 * normalize.
 */
const KEY = /^(?=.{1,512}$)\w([\w.-]*\w)?(\/\w([\w.-]*\w)?)*$/;

const check = (key: string): string => {
  if (!KEY.test(key)) throw new Error(`not a file key: ${JSON.stringify(key)}`);
  return key;
};

/** The file system and S3 say it differently, and flydrive wraps both. S3 has no word for it in a reply without a body. */
const saysMissing = (error: unknown): boolean =>
  [...causesOf(error)].some(
    ({ name, code }: Error & { code?: unknown }) => code === 'ENOENT' || name === 'NoSuchKey' || name === 'NotFound',
  );

interface Medium {
  /** Makes a call of the disk, and names what the medium is to blame for. */
  call<T>(ask: () => Promise<T>): Promise<T>;
  /** Gives on what the disk gave. */
  read(body: Readable): Readable;
  write(disk: Disk, key: string, bytes: Buffer, contentType: string): Promise<void>;
  writeStream(disk: Disk, key: string, stream: Readable, contentType: string): Promise<void>;
  /** Returns when the deletion of a file or folder survives a power loss. */
  settleDeletion(key: string): Promise<void>;
}

function fileStore(disk: () => Promise<Disk>, medium: Medium, later: DiscardLater): FileStore {
  const { call, read, write, writeStream, settleDeletion } = medium;

  async function open(key: string): Promise<Readable> {
    const opened = await disk();
    try {
      return read(await call(() => opened.getStream(key)));
    } catch (error) {
      throw missing(key, error);
    }
  }

  const store: FileStore = {
    async put(key, bytes, contentType) {
      await write(await disk(), check(key), bytes, contentType);
    },
    async putStream(key, stream, contentType) {
      await writeStream(await disk(), check(key), stream, contentType);
    },
    async get(key) {
      try {
        // `getBytes` is not used because of an empty local file it gives the 64 KB of memory that were set aside to
        // read it.
        return await buffer(await open(check(key)));
      } catch (error) {
        throw missing(key, error);
      }
    },
    getStream: async (key) => open(check(key)),
    async sizeOf(key) {
      const opened = await disk();
      check(key);
      try {
        return (await call(() => opened.getMetaData(key))).contentLength;
      } catch (error) {
        // S3 answers this without a body, and then does not say whether it is the file or the bucket that is missing.
        if (saysMissing(error)) (await open(key)).on('error', () => {}).destroy();
        throw missing(key, error);
      }
    },
    async delete(key) {
      const opened = await disk();
      check(key);
      await call(() => opened.delete(key));
      await settleDeletion(key);
    },
    async deleteAll(folder) {
      const opened = await disk();
      check(folder);
      // This calls the driver itself, because the disk would strip the slash and with it the line between `acme` and
      // `acme-2`.
      await call(() => opened.driver.deleteAll(`${folder}/`));
      await settleDeletion(folder);
    },
    async discard(key, failure) {
      if (!(failure instanceof StorageUnavailable)) await store.delete(key).catch(() => later(key));
      // What is deleted now may arrive after that.
      else if (failure.mayHaveWritten) await later(key);
    },
    async discardAll(folder) {
      await store.deleteAll(folder).catch(() => later(`${folder}/`));
    },
  };
  return store;
}

const missing = (key: string, error: unknown): unknown =>
  saysMissing(error) ? new FileNotFoundError(`no file ${key}`) : error;

const createLocalStore = (folder: string, later: DiscardLater): FileStore => {
  const disk = new Disk(new FSDriver({ location: folder, visibility: 'private' }));
  // A crash leaves an unfinished file, never a part of a real one.
  const unfinishedPath = (path: string) => `${path}.${randomUUID()}.tmp`;
  async function place(key: string): Promise<string> {
    const path = join(folder, key);
    await makeDirectoryDurably(dirname(path), { from: dirname(folder) });
    return path;
  }
  const medium: Medium = {
    call: (ask) => ask(),
    read: (body) => body,
    async write(_, key, bytes) {
      const path = await place(key);
      await writeDurably(path, bytes, unfinishedPath(path));
    },
    async writeStream(_, key, stream) {
      const path = await place(key);
      await writeStreamDurably(path, stream, unfinishedPath(path));
    },
    settleDeletion: (key) => syncDeletion(join(folder, key)),
  };
  return fileStore(async () => disk, medium, later);
};

/** Writes a stream to a file of its own, hands that on when it is whole, and leaves nothing at `path` in any case. */
async function spool(path: string, stream: Readable, whole: () => Promise<void>): Promise<void> {
  try {
    await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    await whole();
  } finally {
    await rm(path, { force: true });
  }
}

const createS3Store = (name: string, config: FileSettings, later: DiscardLater): FileStore => {
  const { FILES_S3_ACCESS_KEY_ID: accessKeyId, FILES_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const open = () =>
    openBucket({
      bucket: name,
      region: config.FILES_S3_REGION,
      endpoint: config.FILES_S3_ENDPOINT,
      credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
    });
  let opened: Promise<S3Bucket> | undefined;
  const bucket = () => (opened ??= open());

  const named = (error: unknown, isWrite = false): unknown =>
    saysMissing(error) ? error : new StorageUnavailable(name, error, isWrite);
  async function ask<T>(call: () => Promise<T>, isWrite = false): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw named(error, isWrite);
    }
  }
  async function put(write: () => Promise<void>): Promise<void> {
    const { awaitAnswer } = await bucket();
    await ask(awaitAnswer);
    await ask(write, true);
  }

  const medium: Medium = {
    call: ask,
    read: (body) => inTime(body, named),
    write: (disk, key, bytes, contentType) => put(() => disk.put(key, bytes, { contentType })),
    async writeStream(disk, key, stream, contentType) {
      // S3 must be told the size first, and the size of an upload is known only at its end.
      const path = join(tmpdir(), `${randomUUID()}.upload`);
      await spool(path, stream, async () => {
        const { size } = await stat(path);
        await put(async () => {
          const body = createReadStream(path);
          await disk.putStream(key, body, { contentType, ContentLength: size }).finally(() => body.destroy());
        });
      });
    },
    // S3 answers when the deletion is stored.
    settleDeletion: async () => {},
  };
  return fileStore(async () => (await bucket()).disk, medium, later);
};

/** @param later is given what could not be deleted; by default nobody looks for that again */
export const createFileStore = (config: FileSettings, later: DiscardLater = async () => {}): FileStore =>
  config.FILES_S3_BUCKET
    ? createS3Store(config.FILES_S3_BUCKET, config, later)
    : createLocalStore(resolve(config.DATA_DIR, 'files'), later);
