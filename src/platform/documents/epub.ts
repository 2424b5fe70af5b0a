/** Reads books, chapter by chapter, in the order in which they are to be read. */
import { damagedDocument, encrypted, type Archive } from './archive.ts';
import { htmlText } from './html.ts';
import { DocumentError, MAX_PAGES, type OpenDocument } from './model.ts';
import { resolved } from './office.ts';
import { decodeText } from './text.ts';
import { attribute, visitXml } from './xml.ts';

/** @throws DocumentError */
export async function readEpub(archive: Archive): Promise<OpenDocument> {
  const book = await packageOf(archive);
  const bytes = await archive.read(book);
  if (!bytes) throw damagedDocument('its book is not in it');
  const chapters = chaptersOf(bytes, book).filter((name) => archive.has(name));
  if (chapters.length === 0) throw damagedDocument('it names no chapter');
  if (chapters.length > MAX_PAGES) throw new DocumentError('too_large', `it has more than ${MAX_PAGES} chapters`);
  const locked = await lockedIn(archive);
  if (chapters.some((name) => locked.has(name))) throw encrypted();
  return {
    unit: 'chapter',
    count: chapters.length,
    async text(number) {
      const name = chapters[number - 1];
      const page = name === undefined ? undefined : await archive.read(name);
      return page ? htmlText(asHtml(decodeText(page)?.text ?? '')) : '';
    },
  };
}

async function packageOf(archive: Archive): Promise<string> {
  let path: string | undefined;
  visitXml((await archive.read('META-INF/container.xml')) ?? Buffer.alloc(0), {
    open(name, attributes) {
      if (name === 'rootfile') path ??= attribute(attributes, 'full-path');
    },
  });
  if (!path) throw damagedDocument('its container names no book');
  return resolved('', path);
}

function chaptersOf(bytes: Buffer, book: string): string[] {
  const files = new Map<string, string>();
  const order: string[] = [];
  visitXml(bytes, {
    open(name, attributes) {
      const [id, href, of] = ['id', 'href', 'idref'].map((each) => attribute(attributes, each));
      if (name === 'item' && id && href) files.set(id, resolved(book, unescaped(href)));
      if (name === 'itemref' && of) order.push(of);
    },
  });
  return order.flatMap((id) => files.get(id) ?? []);
}

/** In HTML these have no short form, and would go on to the end of the page. */
const SHORT = /<(a|b|div|em|i|iframe|noscript|script|span|strong|style|textarea|title)\b([^<>]*)\/>/gi;
const asHtml = (xhtml: string): string => xhtml.replace(SHORT, '<$1$2></$1>');

const unescaped = (href: string): string => {
  try {
    return decodeURIComponent(href.replace(/#.*/s, ''));
  } catch {
    return href;
  }
};

/** @returns the files that only a program of the seller opens; fonts are often among them, and are of no interest */
async function lockedIn(archive: Archive): Promise<Set<string>> {
  const locked = new Set<string>();
  const bytes = await archive.read('META-INF/encryption.xml');
  if (!bytes) return locked;
  visitXml(bytes, {
    open(name, attributes) {
      const file = attribute(attributes, 'URI');
      if (name === 'CipherReference' && file) locked.add(resolved('', unescaped(file)));
    },
  });
  return locked;
}
