/** Opens archives of others: what is read is limited, whatever their directory claims. */
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { DocumentError, MAX_ENTRIES, MAX_UNPACKED_BYTES } from './model.ts';

export interface Archive {
  has(name: string): boolean;
  names(): Iterable<string>;
  /** @returns undefined where there is none of this name */
  read(name: string): Promise<Buffer | undefined>;
}

/** @throws DocumentError damaged, too_large */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true, validateEntrySizes: true }).catch(damaged);
  if (zip.entryCount > MAX_ENTRIES) throw new DocumentError('too_large', `it has more than ${MAX_ENTRIES} files in it`);
  const entries = new Map<string, yauzl.Entry>();
  try {
    for await (const entry of zip.eachEntry()) if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry);
  } catch {
    damaged();
  }
  let room = MAX_UNPACKED_BYTES;
  return {
    has: (name) => entries.has(name),
    names: () => entries.keys(),
    async read(name) {
      const entry = entries.get(name);
      if (!entry) return undefined;
      if (entry.isEncrypted()) throw encrypted();
      // The reader holds the entry to the size that it claims.
      room -= entry.uncompressedSize;
      if (room < 0) throw tooLarge();
      return zip
        .openReadStreamPromise(entry)
        .then((stream) => buffer(stream))
        .catch(damaged);
    },
  };
}

export const encrypted = () =>
  new DocumentError('encrypted', 'it is encrypted: attach a copy that opens without a password');

export const tooLarge = () =>
  new DocumentError('too_large', `it unpacks to more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MB: attach a part of it`);

/** @param what never words of the document, as the message is read by models and stands in lists */
export const damagedDocument = (what: string) =>
  new DocumentError('damaged', `it is damaged or not complete (${what}): attach it anew`);

function damaged(): never {
  throw damagedDocument('its archive');
}
