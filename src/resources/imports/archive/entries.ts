/**
 * Reads an archive of which nothing is believed: what it unpacks to is counted while it unpacks, and of tar only plain files
 * are taken. A library for tar holds what extends a header whole, however large that says it is; this reads no such thing.
 */
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { first } from '../../../platform/core/present.ts';
import { ArchiveError } from './refused.ts';

export interface Entry {
  /** The first one has 0. */
  index: number;
  name: string;
  size: number;
  /** What is not read is passed over. */
  body: AsyncIterable<Buffer>;
}

const BLOCK = 512;
/** More entries than an archive of a large workspace has. */
const MAX_ENTRIES = 500_000;
/** Rows of a table that are much the same pack well. */
const MAX_RATIO = 250;
const ALWAYS = 1024 ** 3;

/** @throws ArchiveError archive_damaged, archive_refused */
export async function* entriesOf(archive: Readable, sizeBytes: number): AsyncGenerator<Entry> {
  const bytes = new Bytes(unpacked(archive, ALWAYS + MAX_RATIO * sizeBytes));
  for (let index = 0; ; index++) {
    if (index > MAX_ENTRIES) throw new ArchiveError('archive_refused', `it has more than ${MAX_ENTRIES} files in it`);
    const header = await bytes.take(BLOCK);
    if (header.every((byte) => byte === 0)) return bytes.end();
    const { name, size } = read(header);
    let left = size;
    async function* body(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const piece = await bytes.upTo(left);
        left -= piece.length;
        yield piece;
      }
    }
    yield { index, name, size, body: body() };
    while (left > 0) left -= (await bytes.upTo(left)).length;
    await bytes.take((BLOCK - (size % BLOCK)) % BLOCK);
  }
}

/** @throws ArchiveError where it is not packed as it should be, or unpacks to too much */
async function* unpacked(archive: Readable, most: number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  archive.on('error', (error) => gunzip.destroy(error));
  archive.pipe(gunzip);
  let total = 0;
  try {
    for await (const chunk of gunzip) {
      if (!Buffer.isBuffer(chunk)) throw new Error('gunzip gives something that is no bytes');
      total += chunk.length;
      if (total > most) throw new ArchiveError('archive_refused', 'it unpacks to far more than it is');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw damaged('it is not a whole tar.gz');
    throw error;
  } finally {
    archive.destroy();
    gunzip.destroy();
  }
}

/** @returns whether what it is packed in says of itself that it is as it was made */
export async function isWhole(archive: Readable, sizeBytes: number, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _bytes of unpacked(archive, ALWAYS + MAX_RATIO * sizeBytes)) signal.throwIfAborted();
    return true;
  } catch (error) {
    if (error instanceof ArchiveError) return error.code !== 'archive_damaged';
    throw error;
  }
}

const damaged = (why: string) => new ArchiveError('archive_damaged', why);

const textAt = (header: Buffer, from: number, length: number): string => {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString('utf8');
};

function read(header: Buffer): { name: string; size: number } {
  let sum = 0;
  for (const [place, byte] of header.entries()) sum += place >= 148 && place < 156 ? 32 : byte;
  if (parseInt(textAt(header, 148, 8).trim(), 8) !== sum) throw damaged('a header of it is damaged');
  const prefix = textAt(header, 257, 5) === 'ustar' ? textAt(header, 345, 155) : '';
  const name = (prefix ? `${prefix}/` : '') + textAt(header, 0, 100);
  const type = textAt(header, 156, 1);
  if (type !== '' && type !== '0') throw new ArchiveError('archive_refused', `${name}: only plain files are taken`);
  const size = textAt(header, 124, 12).trim();
  if (!/^[0-7]{1,11}$/.test(size)) throw new ArchiveError('archive_refused', `${name}: its size cannot be read`);
  return { name, size: parseInt(size, 8) };
}

/** Gives bytes of a stream in the amounts that are asked for. */
class Bytes {
  readonly #from: AsyncIterator<Buffer>;
  #have: Buffer = Buffer.alloc(0);

  constructor(from: AsyncIterable<Buffer>) {
    this.#from = from[Symbol.asyncIterator]();
  }

  /** At least one byte, and at most so many. */
  async upTo(count: number): Promise<Buffer> {
    while (this.#have.length === 0) {
      const { done, value } = await this.#from.next();
      if (done) throw damaged('it breaks off');
      this.#have = value;
    }
    const piece = this.#have.subarray(0, count);
    this.#have = this.#have.subarray(piece.length);
    return piece;
  }

  async take(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = count; left > 0;) {
      const piece = await this.upTo(left);
      pieces.push(piece);
      left -= piece.length;
    }
    return pieces.length === 1 ? first(pieces) : Buffer.concat(pieces);
  }

  /** What follows the end of the archive is no part of it. */
  async end(): Promise<void> {
    await this.#from.return?.();
  }
}
