/**
 * Keeps what may be very large in parts of one size. So no store has to take it all at once, what is written can be
 * held back on this machine, and any range of it is read without what lies before it.
 */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { FileNotFoundError, type FileStore } from './files.ts';

/** The store is told this type, because nobody is served from there. */
const OPAQUE = 'application/octet-stream';

const partKey = (folder: string, part: number): string => `${folder}/${String(part).padStart(6, '0')}`;

export interface PartsWriter {
  sink: Writable;
  /** From now on parts go to the store; those that were held back go there first. */
  release(): Promise<void>;
  /** @returns what was written, after the end of the sink */
  finish(): Promise<{ sizeBytes: number; sha256: string }>;
}

interface PartsPlace {
  files: Pick<FileStore, 'put'>;
  folder: string;
  /** A folder of this machine, where parts lie until they are released. */
  spool: string;
  /** Each has so many, but the last one. */
  partBytes: number;
}

export function createPartsWriter({ files, folder, spool, partBytes }: PartsPlace): PartsWriter {
  const hash = createHash('sha256');
  const held: number[] = [];
  let chunks: Buffer[] = [];
  let waiting = 0;
  let sizeBytes = 0;
  let parts = 0;
  let isReleased = false;
  const spooled = (part: number): string => join(spool, `part-${part}`);

  async function put(bytes: Buffer): Promise<void> {
    const part = parts++;
    if (isReleased) return files.put(partKey(folder, part), bytes, OPAQUE);
    await writeFile(spooled(part), bytes, { mode: 0o600 });
    held.push(part);
  }

  async function take(chunk: Buffer): Promise<void> {
    hash.update(chunk);
    sizeBytes += chunk.length;
    waiting += chunk.length;
    chunks.push(chunk);
    if (waiting < partBytes) return;
    const all = Buffer.concat(chunks);
    const whole = all.length - (all.length % partBytes);
    chunks = whole < all.length ? [all.subarray(whole)] : [];
    waiting = all.length - whole;
    for (let from = 0; from < whole; from += partBytes) await put(all.subarray(from, from + partBytes));
  }

  async function release(): Promise<void> {
    isReleased = true;
    for (let part = held.shift(); part !== undefined; part = held.shift()) {
      await files.put(partKey(folder, part), await readFile(spooled(part)), OPAQUE);
      await rm(spooled(part));
    }
  }

  return {
    sink: new Writable({
      write: (chunk: Buffer, _encoding, done) => void take(chunk).then(() => done(), done),
      final: (done) => void (waiting > 0 ? put(Buffer.concat(chunks)) : Promise.resolve()).then(() => done(), done),
    }),
    release,
    async finish() {
      // A part may have been on its way to the spool when the others were released.
      await release();
      return { sizeBytes, sha256: hash.digest('hex') };
    },
  };
}

/** Returns the number of bytes that are stored in parts, of which all are full but the last one. @throws FileNotFoundError */
export async function sizeOfParts(
  files: Pick<FileStore, 'sizeOf'>,
  { folder, partBytes }: Pick<PartsPlace, 'folder' | 'partBytes'>,
): Promise<number> {
  const sizeOf = (part: number): Promise<number | undefined> =>
    files.sizeOf(partKey(folder, part)).catch((error: unknown) => {
      if (error instanceof FileNotFoundError) return undefined;
      throw error;
    });
  // The last part is searched for in doubled steps and then between two of them, as there may be thousands.
  let last = -1;
  let size = 0;
  let step = 1;
  for (let isDoubling = true; step >= 1;) {
    const found = await sizeOf(last + step);
    if (found === undefined) isDoubling = false;
    else [last, size] = [last + step, found];
    step = isDoubling ? step * 2 : Math.floor(step / 2);
  }
  if (last < 0) throw new FileNotFoundError(`no file ${partKey(folder, 0)}`);
  return last * partBytes + size;
}

/**
 * @param from the first byte
 * @param to the last byte
 */
export const readParts = (
  files: Pick<FileStore, 'get'>,
  { folder, partBytes }: Pick<PartsPlace, 'folder' | 'partBytes'>,
  { from, to }: { from: number; to: number },
): Readable =>
  Readable.from(
    (async function* () {
      for (let part = Math.floor(from / partBytes); part * partBytes <= to; part++) {
        const start = part * partBytes;
        const bytes = await files.get(partKey(folder, part));
        yield bytes.subarray(Math.max(0, from - start), to + 1 - start);
      }
    })(),
    { objectMode: false },
  );
