/** Reads the text of a Word document: paragraphs, headings, lists, tables, notes and where links lead to. */
import { damagedDocument, type Archive } from './archive.ts';
import { createCollector, type OpenDocument } from './model.ts';
import { mainPartOf, relationsOf } from './office.ts';
import { attribute, visitXml, type Attributes } from './xml.ts';

/** @throws DocumentError */
export async function readDocx(archive: Archive): Promise<OpenDocument> {
  const name = await mainPartOf(archive, 'word/document.xml');
  const body = await archive.read(name);
  if (!body) throw damagedDocument('there is no word/document.xml');
  const relations = await relationsOf(archive, name);
  const collected = createCollector();
  const visit = (bytes: Buffer, mark: string) => {
    for (const block of blocksOf(bytes, relations, mark)) collected.add(block);
  };
  visit(body, '');
  for (const [part, mark] of [
    ['word/footnotes.xml', ''],
    ['word/endnotes.xml', 'e'],
  ] as const) {
    const notes = await archive.read(part);
    if (notes) visit(notes, mark);
  }
  const text = collected.all().trim();
  return { unit: null, count: 1, text: () => text };
}

/** @param mark goes before the numbers of notes, so that footnotes and endnotes differ */
function blocksOf(bytes: Buffer, relations: ReadonlyMap<string, string>, mark: string): string[] {
  const blocks: string[] = [];
  /** Paragraphs that are open: one of a text box stands in another. */
  const paragraphs: Paragraph[] = [];
  /** Rows that are open: those of tables in cells stand in others. */
  const rows: string[][] = [];
  const links: (string | undefined)[] = [];
  /** In these is what was deleted, or said again for older programs. */
  let skipped = 0;
  let isText = false;

  const say = (text: string) => {
    const paragraph = paragraphs.at(-1);
    if (paragraph && skipped === 0) paragraph.text += text;
  };
  const end = (paragraph: Paragraph) => {
    const text = paragraph.text.trim();
    const row = rows.at(-1);
    if (row) {
      const cell = row.at(-1);
      if (cell !== undefined && text) row[row.length - 1] = cell ? `${cell} ${text}` : text;
    } else if (text) blocks.push(`${paragraph.prefix}${text}\n${paragraph.isItem ? '' : '\n'}`);
  };

  const opened: Record<string, (attributes: Attributes) => void> = {
    p: () => paragraphs.push({ text: '', prefix: '', isItem: false }),
    pStyle: (attributes) => {
      const paragraph = paragraphs.at(-1);
      const level = /^(?:heading|berschrift|titre|titolo|título)\s?([1-6])$/i.exec(
        attribute(attributes, 'val') ?? '',
      )?.[1];
      if (paragraph && level) paragraph.prefix = `${'#'.repeat(Number(level))} `;
      else if (paragraph && /^title$/i.test(attribute(attributes, 'val') ?? '')) paragraph.prefix = '# ';
    },
    numPr: () => {
      const paragraph = paragraphs.at(-1);
      if (!paragraph || paragraph.prefix) return;
      paragraph.prefix = '- ';
      paragraph.isItem = true;
    },
    t: () => (isText = true),
    tab: () => say('\t'),
    br: () => say('\n'),
    cr: () => say('\n'),
    noBreakHyphen: () => say('-'),
    tr: () => rows.push([]),
    tc: () => rows.at(-1)?.push(''),
    hyperlink: (attributes) => links.push(relations.get(attribute(attributes, 'id') ?? '')),
    footnoteReference: (attributes) => say(`[^${attribute(attributes, 'id') ?? ''}]`),
    endnoteReference: (attributes) => say(`[^e${attribute(attributes, 'id') ?? ''}]`),
    footnote: (attributes) => beginNote(attributes),
    endnote: (attributes) => beginNote(attributes),
    Fallback: () => (skipped += 1),
    del: () => (skipped += 1),
    moveFrom: () => (skipped += 1),
  };
  const beginNote = (attributes: Attributes) => {
    // Those of a type are lines between text and notes.
    if (attribute(attributes, 'type') !== undefined) skipped += 1;
    else blocks.push(`[^${mark}${attribute(attributes, 'id') ?? ''}]: `);
    notes.push(attribute(attributes, 'type') !== undefined);
  };
  const notes: boolean[] = [];
  const endNote = () => {
    if (notes.pop()) skipped -= 1;
  };
  const closed: Record<string, () => void> = {
    p: () => {
      const paragraph = paragraphs.pop();
      if (paragraph) end(paragraph);
    },
    t: () => (isText = false),
    tr: () => {
      const row = rows.pop() ?? [];
      const line = `| ${row.map((cell) => cell.replaceAll('\n', ' ').replaceAll('|', '\\|')).join(' | ')} |`;
      const outer = rows.at(-1);
      if (!outer) blocks.push(`${line}\n`);
      else if (outer.length > 0) outer[outer.length - 1] += ` ${row.join('; ')}`;
    },
    tbl: () => {
      if (rows.length === 0) blocks.push('\n');
    },
    hyperlink: () => {
      const target = links.pop();
      if (target) say(` (${target})`);
    },
    footnote: endNote,
    endnote: endNote,
    Fallback: () => (skipped -= 1),
    del: () => (skipped -= 1),
    moveFrom: () => (skipped -= 1),
  };
  visitXml(bytes, {
    open: (name, attributes) => ownOf(opened, name)?.(attributes),
    close: (name) => ownOf(closed, name)?.(),
    text: (text) => isText && say(text),
  });
  return blocks;
}

interface Paragraph {
  text: string;
  prefix: string;
  isItem: boolean;
}

/** An element may have any name, also that of what every object has. */
const ownOf = <Value>(values: Record<string, Value>, name: string): Value | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
