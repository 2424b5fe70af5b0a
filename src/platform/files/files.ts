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
}

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

interface Writing {
  write(disk: Disk, key: string, bytes: Buffer, contentType: string): Promise<void>;
  writeStream(disk: Disk, key: string, stream: Readable, contentType: string): Promise<void>;
  /** Returns when the deletion of a file or folder survives a power loss. */
  settleDeletion(key: string): Promise<void>;
}

const fileStore = (disk: () => Promise<Disk>, { write, writeStream, settleDeletion }: Writing): FileStore => ({
  async put(key, bytes, contentType) {
    await write(await disk(), check(key), bytes, contentType);
  },
  async putStream(key, stream, contentType) {
    await writeStream(await disk(), check(key), stream, contentType);
  },
  async get(key) {
    check(key);
    try {
      // `getBytes` is not used because of an empty local file it gives the 64 KB of memory that were set aside to read
      // it.
      return await buffer(await (await disk()).getStream(key));
    } catch (error) {
      throw missing(key, error);
    }
  },
  async getStream(key) {
    check(key);
    try {
      return await (await disk()).getStream(key);
    } catch (error) {
      throw missing(key, error);
    }
  },
  async sizeOf(key) {
    check(key);
    try {
      return (await (await disk()).getMetaData(key)).contentLength;
    } catch (error) {
      throw missing(key, error);
    }
  },
  async delete(key) {
    await (await disk()).delete(check(key));
    await settleDeletion(key);
  },
  async deleteAll(folder) {
    // This calls the driver itself, because the disk would strip the slash and with it the line between `acme` and
    // `acme-2`.
    await (await disk()).driver.deleteAll(`${check(folder)}/`);
    await settleDeletion(folder);
  },
});

const missing = (key: string, error: unknown): unknown =>
  saysMissing(error) ? new FileNotFoundError(`no file ${key}`) : error;

const createLocalStore = (folder: string): FileStore => {
  const disk = new Disk(new FSDriver({ location: folder, visibility: 'private' }));
  // A crash leaves an unfinished file, never a part of a real one.
  const unfinishedPath = (path: string) => `${path}.${randomUUID()}.tmp`;
  async function place(key: string): Promise<string> {
    const path = join(folder, key);
    await makeDirectoryDurably(dirname(path), { from: dirname(folder) });
    return path;
  }
  return fileStore(async () => disk, {
    async write(_, key, bytes) {
      const path = await place(key);
      await writeDurably(path, bytes, unfinishedPath(path));
    },
    async writeStream(_, key, stream) {
      const path = await place(key);
      await writeStreamDurably(path, stream, unfinishedPath(path));
    },
    settleDeletion: (key) => syncDeletion(join(folder, key)),
  });
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

const createS3Store = (bucket: string, config: FileSettings): FileStore => {
  const { FILES_S3_ACCESS_KEY_ID: accessKeyId, FILES_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const open = async (): Promise<Disk> => {
    // The SDK is large and most processes never need it, so it is loaded on first use.
    const { S3Driver } = await import('flydrive/drivers/s3');
    return new Disk(
      new S3Driver({
        bucket,
        region: config.FILES_S3_REGION,
        visibility: 'private',
        supportsACL: false,
        // Storage other than AWS's seldom has a host name for each bucket, or accepts a checksum behind a stream.
        ...(config.FILES_S3_ENDPOINT
          ? { endpoint: config.FILES_S3_ENDPOINT, forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' }
          : {}),
        ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
      }),
    );
  };
  let disk: Promise<Disk> | undefined;
  return fileStore(() => (disk ??= open()), {
    write: (opened, key, bytes, contentType) => opened.put(key, bytes, { contentType }),
    async writeStream(opened, key, stream, contentType) {
      // S3 must be told the size first, and the size of an upload is known only at its end.
      const path = join(tmpdir(), `${randomUUID()}.upload`);
      await spool(path, stream, async () => {
        const { size } = await stat(path);
        const body = createReadStream(path);
        await opened.putStream(key, body, { contentType, ContentLength: size }).finally(() => body.destroy());
      });
    },
    // S3 answers when the deletion is stored.
    settleDeletion: async () => {},
  });
};

export const createFileStore = (config: FileSettings): FileStore =>
  config.FILES_S3_BUCKET
    ? createS3Store(config.FILES_S3_BUCKET, config)
    : createLocalStore(resolve(config.DATA_DIR, 'files'));
