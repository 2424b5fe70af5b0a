/** Pictures: how large they are, what is made of them for a model, and those that only claim to be some. */
import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { crc32 } from 'node:zlib';
import { lookAtDocument } from '../../../src/platform/documents/documents.ts';
import { shownPicture } from '../../../src/platform/documents/picture.ts';

const look = (bytes: Buffer, filename = 'a.png') => lookAtDocument({ bytes, filename });
const blank = (width: number, height: number, alpha = 1) =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 30, b: 30, alpha } } });

/** @returns a PNG of a few bytes that says it is this large */
async function claiming(width: number, height: number): Promise<Buffer> {
  const bytes = await blank(1, 1).png().toBuffer();
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes;
}

describe('a picture', () => {
  // Guards: the upload says how large it is, whatever its format and its name.
  test.each([
    ['png', 'a.png', 'picture of 1,200 × 30 pixels (png), shown to models that see'],
    ['jpeg', 'a.jpg', 'picture of 1,200 × 30 pixels (jpeg), shown to models that see'],
    ['webp', 'a.webp', 'picture of 1,200 × 30 pixels (webp), shown to models that see'],
    ['gif', 'a.gif', 'picture of 1,200 × 30 pixels (gif), shown to models that see'],
    [
      'tiff',
      'a.pdf',
      'picture of 1,200 × 30 pixels (tiff; a picture, whatever its name says), shown to models that see',
    ],
  ] as const)('of %s is known', async (format, name, summary) => {
    const bytes = await blank(1_200, 30).toFormat(format).toBuffer();
    expect(await look(bytes, name)).toEqual({
      kind: 'image',
      readable: true,
      unit: null,
      count: null,
      problem: null,
      summary,
    });
  });

  // Guards: a model is sent no more than it sees, stood up, without what a file carries beside its pixels.
  test('is made smaller, and anew', async () => {
    const photo = await blank(4_000, 1_000)
      .removeAlpha()
      .withExif({ IFD0: { ImageDescription: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const shown = await shownPicture(photo);
    expect(shown).toMatchObject({ mediaType: 'image/jpeg', width: 392, height: 1_568 });
    expect(shown.bytes.includes('secret place')).toBe(false);
    expect(await shownPicture(await blank(20, 10, 0.5).png().toBuffer())).toMatchObject({
      mediaType: 'image/png',
      width: 20,
      height: 10,
    });
  });

  // Guards: one that cannot be shown is known at the upload, before a model is asked.
  test.each([
    [
      'cut off',
      async () => (await blank(600, 600).jpeg().toBuffer()).subarray(0, 900),
      'damaged',
      /damaged or not complete/,
    ],
    ['larger than it is', () => claiming(60_000, 60_000), 'too_large', /more than 50 million pixels/],
    [
      'nothing but its mark',
      async () => Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      'damaged',
      /damaged or not complete/,
    ],
  ] as const)('%s', async (_, made, problem, words) => {
    expect(await look(await made())).toMatchObject({
      kind: null,
      readable: false,
      problem,
      summary: expect.stringMatching(words),
    });
  });

  // Guards against: a picture that is a program of the library that reads pictures.
  test('is none where it is text', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>';
    expect(await look(Buffer.from(svg), 'a.png')).toMatchObject({ kind: 'text', readable: true });
  });
});
