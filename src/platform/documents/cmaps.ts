/**
 * What old fonts of Chinese, Japanese and Korean name by number, and what letters those are: the predefined CMaps of Adobe, as
 * `cmaps/` of the package pdfjs-dist has them, with their licence, in one archive. The rest of that package is forty times as large.
 */
import { readFile } from 'node:fs/promises';
import { openArchive, type Archive } from './archive.ts';

/** PDF.js asks it for files of its own; nothing but a CMap is given out, and none by a path. */
export class CMaps {
  #archive: Promise<Archive> | undefined;

  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    this.#archive ??= readFile(new URL('./cmaps.zip', import.meta.url)).then(openArchive);
    const bytes = await (await this.#archive).read(filename);
    if (!bytes) throw new Error('there is no such file');
    return new Uint8Array(bytes);
  }
}
