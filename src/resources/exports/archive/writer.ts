/** Writes an archive, file by file, and notes the digest of each. Nothing of it is held but the file that is written. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { withoutPageKeys } from '../../../platform/core/page-keys.ts';

/** Lines are gathered to files of about so many bytes. */
const FILE_BYTES = 4 * 1024 * 1024;

export type ArchiveWriter = ReturnType<typeof createArchiveWriter>;

export function createArchiveWriter(sink: Writable, { at, signal }: { at: Date; signal: AbortSignal }) {
  const tar = pack();
  const sums: string[] = [];
  const written = pipeline(tar, createGzip(), sink, { signal });
  // Whoever waits for a file to be written learns that by a failure of any part: the file's own end would never come.
  const broken = written.then((): never => {
    throw new Error('the archive was closed');
  });
  broken.catch(() => {});

  async function entry(name: string, size: number, body: Readable): Promise<string> {
    const hash = createHash('sha256');
    const taken = new Promise<void>((resolve, reject) => {
      const to = tar.entry({ name, size, mode: 0o600, mtime: at }, (error) => (error ? reject(error) : resolve()));
      body.on('data', (chunk: Buffer) => hash.update(chunk));
      body.on('error', (error) => {
        reject(error);
        tar.destroy(error);
      });
      body.pipe(to);
    });
    await Promise.race([taken, broken]);
    return hash.digest('hex');
  }

  const add = async (name: string, bytes: Buffer): Promise<void> =>
    void sums.push(`${await entry(name, bytes.length, Readable.from([bytes]))}  ${name}\n`);

  return {
    add,
    async addFile(name: string, path: string): Promise<void> {
      const { size } = await stat(path);
      sums.push(`${await entry(name, size, createReadStream(path))}  ${name}\n`);
    },

    /**
     * Writes lines to as many files as they fill.
     * @returns how many lines there were
     */
    async addLines(folder: string, pages: AsyncIterable<string[]>, note: (lines: number) => void): Promise<number> {
      let gathered: string[] = [];
      let size = 0;
      let files = 0;
      let count = 0;
      const flush = async () => {
        const bytes = Buffer.from(gathered.join(''));
        [gathered, size] = [[], 0];
        await add(`${folder}/${String(++files).padStart(6, '0')}.jsonl`, bytes);
      };
      for await (const lines of pages) {
        for (const line of lines) {
          const kept = withoutPageKeys(line);
          gathered.push(kept, '\n');
          size += kept.length + 1;
          if (size >= FILE_BYTES) await flush();
        }
        count += lines.length;
        note(lines.length);
      }
      if (gathered.length > 0) await flush();
      return count;
    },

    /**
     * Closes the archive behind the list of digests and the manifest.
     * @param manifest makes it of the digest of that list
     */
    async close(manifest: (sums: string) => object): Promise<void> {
      const list = Buffer.from(sums.join(''));
      const digest = await entry('SHA256SUMS', list.length, Readable.from([list]));
      const text = Buffer.from(`${JSON.stringify(manifest(digest), undefined, 2)}\n`);
      await entry('manifest.json', text.length, Readable.from([text]));
      tar.finalize();
      await written;
    },

    /** Nothing more is written; what waits to be fails. */
    abandon(): void {
      tar.destroy();
    },
  };
}
