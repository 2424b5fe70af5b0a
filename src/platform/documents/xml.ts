/**
 * Reads XML of others as a sequence of elements and text. Nothing is fetched, and no entity of the document's own is known:
 * one that defines some, in whatever number, is refused where it uses them.
 */
import { SaxesParser } from 'saxes';
import { damagedDocument } from './archive.ts';
import { DocumentError, MAX_DEPTH } from './model.ts';

/** Attributes as they are written, with their prefix. */
export type Attributes = Readonly<Record<string, string>>;

export interface XmlVisitor {
  /** @param name without its prefix */
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** So many bytes are decoded at a time. */
const STEP = 1024 * 1024;

/** @throws DocumentError damaged, too_large */
export function visitXml(bytes: Buffer, { open, close, text }: XmlVisitor): void {
  const parser = new SaxesParser({ xmlns: false, position: false });
  let depth = 0;
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new DocumentError('too_large', `its elements are nested more than ${MAX_DEPTH} deep`);
    open?.(localOf(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    close?.(localOf(name));
  });
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  const decoder = new TextDecoder(encodingOf(bytes));
  try {
    for (let at = 0; at < bytes.length; at += STEP) {
      parser.write(decoder.decode(bytes.subarray(at, at + STEP), { stream: true }));
    }
    parser.write(decoder.decode()).close();
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw damagedDocument('its XML');
  }
}

const encodingOf = (bytes: Buffer): string => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
};

const localOf = (name: string): string => name.slice(name.indexOf(':') + 1);

/** @returns the attribute of this name, whatever its prefix; one without a prefix comes last */
export function attribute(attributes: Attributes, name: string): string | undefined {
  const prefixed = Object.keys(attributes).find((key) => key.endsWith(`:${name}`));
  return attributes[prefixed ?? name];
}
