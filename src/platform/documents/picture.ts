/** Looks at pictures, and makes of them what a model is shown: no larger than it sees, and nothing but its pixels. */
import type { Sharp } from 'sharp';
import type { ShownPicture } from '../models/types.ts';
import { DocumentError } from './model.ts';

/** More is not shown to a model, and decoding it takes memory. */
const MAX_PIXELS = 50_000_000;
/** Models scale down what is longer. */
const MAX_EDGE = 1_568;
const SECONDS = 15;

/** Tells a picture by its first bytes. What is text, as SVG is, is read as text. */
const BEGINNINGS: readonly RegExp[] = [
  /^\x89PNG\r\n\x1a\n/,
  /^\xff\xd8\xff/,
  /^GIF8[79]a/,
  /^RIFF....WEBP/s,
  /^....ftypavi[fs]/s,
  /^(?:II\*\0|MM\0\*)/,
];

export const isPicture = (bytes: Uint8Array): boolean => {
  const beginning = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return BEGINNINGS.some((pattern) => pattern.test(beginning));
};

export interface LookedAtPicture {
  format: string;
  width: number;
  height: number;
}

/** @returns how large the picture is; all of it was decoded, so that what cannot be shown is known before */
export async function lookAtPicture(bytes: Uint8Array): Promise<LookedAtPicture> {
  return decoded(bytes, async (open) => {
    const { format, width, height, orientation = 1 } = await open().metadata();
    await open().resize(16, 16, { fit: 'inside' }).raw().toBuffer();
    // A picture that lies on its side is stood up before it is shown.
    return orientation > 4 ? { format, width: height, height: width } : { format, width, height };
  });
}

/** @throws DocumentError damaged, too_large */
export const shownPicture = (bytes: Uint8Array): Promise<ShownPicture> =>
  decoded(bytes, async (open) => {
    const fitted = open().autoOrient().resize(MAX_EDGE, MAX_EDGE, { fit: 'inside', withoutEnlargement: true });
    const { isOpaque } = await open().stats();
    const { data, info } = await (isOpaque ? fitted.jpeg({ quality: 85 }) : fitted.png()).toBuffer({
      resolveWithObject: true,
    });
    return { mediaType: isOpaque ? 'image/jpeg' : 'image/png', bytes: data, width: info.width, height: info.height };
  });

async function decoded<Result>(bytes: Uint8Array, work: (open: () => Sharp) => Promise<Result>): Promise<Result> {
  const { default: open } = await import('sharp');
  try {
    return await work(() =>
      open(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'truncated', sequentialRead: true }).timeout({
        seconds: SECONDS,
      }),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (/pixel limit/i.test(message)) {
      throw new DocumentError(
        'too_large',
        `it has more than ${MAX_PIXELS / 1_000_000} million pixels: attach it smaller`,
      );
    }
    throw new DocumentError('damaged', 'the picture is damaged or not complete: attach it anew');
  }
}
