/** Reads plain text in any encoding that it can be told to have. */
import { analyse } from 'chardet';
import { DocumentError, limitedText, type OpenDocument } from './model.ts';

/** So much is looked at to tell an encoding. */
const SAMPLE = 64 * 1024;
/** Of the characters of a text, so many at most are those that no text has. */
const MAX_CONTROL_SHARE = 0.02;

interface Decoded {
  text: string;
  encoding: string;
}

/**
 * @param declared the encoding that the text claims, which counts where its bytes do not tell it
 * @returns undefined where the bytes are no text
 */
export function decodeText(bytes: Buffer, declared?: string): Decoded | undefined {
  const marked = markOf(bytes);
  if (marked) return decoded(bytes, marked);
  // Without a mark it is UTF-16 where every other byte is zero, and otherwise what has no zeros.
  const wide = wideOf(bytes.subarray(0, SAMPLE));
  const text = wide ? undefined : fatally(bytes, 'utf-8');
  if (text !== undefined) return isText(text) ? { text: storable(text), encoding: 'utf-8' } : undefined;
  const sample = bytes.subarray(0, SAMPLE);
  const candidates = wide ? [wide] : [...(declared === undefined ? [] : [declared]), ...guessesOf(sample)];
  for (const encoding of candidates.filter(isDecodable)) {
    const found = decoded(bytes, encoding);
    if (found) return found;
  }
  return undefined;
}

/** @throws DocumentError unsupported, too_large */
export function readText(bytes: Buffer): OpenDocument {
  const found = decodeText(bytes);
  if (!found) throw new DocumentError('unsupported', 'it is no text and no document of a known kind');
  const text = limitedText(found.text);
  const note = found.encoding === 'utf-8' ? undefined : found.encoding;
  return { unit: null, count: 1, ...(note && { note }), text: () => text };
}

function markOf(bytes: Buffer): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** Text of Latin letters, digits and line breaks has a zero in one half of each character. */
function wideOf(sample: Buffer): string | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const enough = sample.length / 10;
  if (odd > enough && even < odd / 20) return 'utf-16le';
  return even > enough && odd < even / 20 ? 'utf-16be' : undefined;
}

/** Of a hundred. A guess that is less sure is made of any bytes. */
const SURE = 20;

/** The likeliest first; a guess is wrong where it makes no text of the bytes. */
const guessesOf = (sample: Buffer): string[] => [
  ...analyse(sample)
    .filter(({ confidence }) => confidence >= SURE)
    .map(({ name }) => name.toLowerCase()),
  'windows-1252',
];

function isDecodable(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding !== 'utf-8';
  } catch {
    return false;
  }
}

const decoded = (bytes: Buffer, encoding: string): Decoded | undefined => {
  const decoder = new TextDecoder(encoding);
  const text = decoder.decode(bytes);
  return isText(text) ? { text: storable(text), encoding: decoder.encoding } : undefined;
};

function fatally(bytes: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Control characters and what could not be decoded; tabs, line breaks, form feeds and escapes are in many texts. */
const UNUSUAL = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd\uffff]/g;

function isText(text: string): boolean {
  const sample = text.slice(0, SAMPLE);
  return (sample.match(UNUSUAL)?.length ?? 0) <= sample.length * MAX_CONTROL_SHARE;
}

/** Postgres keeps no NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');
