/** Opens an archive of a workspace, as whoever downloaded one would. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { present } from '../../../src/platform/core/present.ts';

export type Unpacked = ReadonlyMap<string, Buffer>;

/** @returns its files by their names */
export async function unpack(archive: Buffer): Promise<Unpacked> {
  const files = new Map<string, Buffer>();
  const reader = extract();
  reader.on('entry', ({ name }, body, next) => {
    buffer(body).then((bytes) => {
      files.set(name, bytes);
      next();
    }, next);
  });
  await pipeline(Readable.from([archive]), createGunzip(), reader);
  return files;
}

// What a test expects of a row is what its assertions say.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Line = any;

/** @returns the rows of a table, or the lines of another folder */
export const linesIn = (archive: Unpacked, folder: string): Line[] =>
  [...archive]
    .filter(([name]) => name.startsWith(`${folder}/`))
    .flatMap(([, bytes]) => bytes.toString().trim().split('\n'))
    .map((line) => JSON.parse(line));

export const manifestIn = (archive: Unpacked): Line => JSON.parse(present(archive.get('manifest.json')).toString());

/** @returns what SHA256SUMS says of each file beside what it is */
export const sumsIn = (archive: Unpacked): { name: string; said: string; is: string }[] =>
  present(archive.get('SHA256SUMS'))
    .toString()
    .trim()
    .split('\n')
    .map((line) => {
      const [said = '', name = ''] = line.split('  ');
      return {
        name,
        said,
        is: createHash('sha256')
          .update(present(archive.get(name), name))
          .digest('hex'),
      };
    });
