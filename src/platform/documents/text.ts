/** Reads plain text in any encoding that it can be told to have. */
import { analyse } from 'chardet';
import { createCollector, DocumentError, limitedText, type OpenDocument } from './model.ts';

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
  const sample = bytes.subarray(0, SAMPLE);
  // Without a mark it is of wide characters where many bytes are zero, and otherwise what has no zeros.
  const wide = wideOf(sample);
  const text = wide ? undefined : fatally(bytes, 'utf-8');
  if (text !== undefined && /\x1b\$[@B]/.test(text.slice(0, SAMPLE))) return decoded(bytes, 'iso-2022-jp');
  if (text !== undefined && isText(text)) return { text: storable(text), encoding: 'utf-8' };
  const mended = wide || text !== undefined ? undefined : mostlyUtf8(bytes);
  if (mended) return mended;
  const candidates = [
    ...(wide ? [wide] : sparselyWide(bytes)),
    ...(wide || text !== undefined ? [] : [...(declared === undefined ? [] : [declared]), ...guessesOf(sample)]),
  ];
  for (const encoding of candidates) {
    const found = decoded(bytes, encoding);
    if (found && isNatural(found)) return found;
  }
  return undefined;
}

/** @throws DocumentError unsupported, too_large */
export function readText(bytes: Buffer): OpenDocument {
  const found = decodeText(bytes);
  if (!found) throw notText(bytes);
  const text = limitedText(found.text);
  const note = found.encoding === 'utf-8' ? undefined : found.encoding;
  return { unit: null, count: 1, ...(note && { note }), text: () => text };
}

/** Bytes without zeros may be a text of which nobody can tell how it is written. */
export const notText = (bytes: Buffer): DocumentError =>
  new DocumentError(
    'unsupported',
    bytes.subarray(0, SAMPLE).includes(0)
      ? 'it is no text and no document of a known kind'
      : 'it is no document of a known kind, or a text whose encoding cannot be told: save it as UTF-8',
  );

const MARKS: readonly [string, readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  // It begins like the one after it.
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
];

const markOf = (bytes: Buffer): string | undefined =>
  MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0];

/** @returns how many bytes are zero at each place of four */
function zerosOf(sample: Buffer): [number, number, number, number] {
  const zeros: [number, number, number, number] = [0, 0, 0, 0];
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[AT[at % 4] ?? 0] += 1;
  return zeros;
}

const AT = [0, 1, 2, 3] as const;

/** Text of Latin letters, digits and line breaks has a zero in one half of each character, or in three quarters. */
function wideOf(sample: Buffer): string | undefined {
  const [first, second, third, last] = zerosOf(sample);
  const [even, odd, enough] = [first + third, second + last, sample.length / 10];
  const few = sample.length / 80;
  if (sample.length % 4 === 0 && third > sample.length / 5 && first <= few) return 'utf-32le';
  if (sample.length % 4 === 0 && first > sample.length / 5 && second > sample.length / 5 && last <= few)
    return 'utf-32be';
  if (odd > enough && even < odd / 20) return 'utf-16le';
  return even > enough && odd < even / 20 ? 'utf-16be' : undefined;
}

/** Text of other letters has zeros in its spaces and line breaks alone, all on one side. */
function sparselyWide(bytes: Buffer): string[] {
  const [first, second, third, last] = zerosOf(bytes.subarray(0, SAMPLE));
  const [even, odd] = [first + third, second + last];
  if (even + odd === 0 || (even > 0 && odd > 0)) return [];
  const encoding = odd > 0 ? 'utf-16le' : 'utf-16be';
  const text = fatally(bytes, encoding);
  return text === undefined || /[\p{Cn}\p{Co}]/u.test(text.slice(0, SAMPLE)) ? [] : [encoding];
}

/** A text that was cut off, or has a few bytes of another, is what the rest of it is. */
function mostlyUtf8(bytes: Buffer): Decoded | undefined {
  const text = new TextDecoder('utf-8').decode(bytes);
  const lost = text.match(/\ufffd/g)?.length ?? 0;
  const good = text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0;
  return lost * 10 <= good && isText(text)
    ? { text: storable(text), encoding: `utf-8, characters lost: ${lost}` }
    : undefined;
}

/** Of a hundred. A guess that is less sure is made of any bytes, unless it is of single bytes and its text is natural. */
const SURE = 20;
const LIKELY = 10;

/** The likeliest first; a guess is wrong where it makes no text of the bytes. */
function guessesOf(sample: Buffer): string[] {
  const guesses = analyse(sample).map(({ name, confidence }) => ({ name: name.toLowerCase(), confidence }));
  const unsure = ({ name, confidence }: { name: string; confidence: number }) =>
    confidence < SURE && confidence >= LIKELY && /^(?:windows|iso-8859|koi8)/.test(name);
  return [
    ...guesses.filter(({ confidence }) => confidence >= SURE),
    { name: 'windows-1252' },
    ...guesses.filter(unsure),
  ].map(({ name }) => name);
}

/** What single bytes stand for is guessed: words have no signs or capitals in them, and few letters of the West are accented. */
function isNatural({ text, encoding }: Decoded): boolean {
  if (!/^(?:windows|iso-8859|koi8)/.test(encoding)) return true;
  const sample = text.slice(0, SAMPLE);
  if (/(?=[^A-Z])\p{Ll}(?=[^A-Z])\p{Lu}/u.test(sample)) return false;
  if (/\p{L}[¡-©«-±´-¸»-¿]\p{L}/u.test(sample)) return false;
  const letters = sample.match(/\p{L}/gu) ?? [];
  const accented = letters.filter((letter) => letter > '\x7f').length;
  return encoding !== 'windows-1252' || accented <= letters.length / 2;
}

function decoded(bytes: Buffer, name: string): Decoded | undefined {
  const found = name.startsWith('utf-32') ? wideText(bytes, name) : ordinaryText(bytes, name);
  return found && isText(found.text) ? { ...found, text: storable(found.text) } : undefined;
}

function ordinaryText(bytes: Buffer, name: string): Decoded | undefined {
  try {
    const decoder = new TextDecoder(name);
    return { text: decoder.decode(bytes), encoding: decoder.encoding };
  } catch {
    return undefined;
  }
}

/** No decoder knows four bytes to a character. */
function wideText(bytes: Buffer, encoding: string): Decoded {
  const out = createCollector();
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = encoding === 'utf-32le' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    if (at > 0 || code !== 0xfeff) out.add(code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd');
  }
  return { text: out.all(), encoding };
}

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
