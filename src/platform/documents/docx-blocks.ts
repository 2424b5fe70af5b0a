/** Makes blocks of text of a part of a Word document: its body, a header, or notes. */
import { shortened, type Comment } from './docx-comments.ts';
import { createChanges, type ChangeKind } from './docx-changes.ts';
import { attribute, visitXml, type Attributes } from './xml.ts';

interface Surroundings {
  relations: ReadonlyMap<string, string>;
  comments: ReadonlyMap<string, Comment>;
  /** Goes before the numbers of notes, so that footnotes and endnotes differ. */
  mark: string;
}

interface Paragraph {
  text: string;
  prefix: string;
  isItem: boolean;
}

/** So much is kept of the words that a comment is on. */
const ON = 200;

export function blocksOf(bytes: Buffer, { relations, comments, mark }: Surroundings): string[] {
  const blocks: string[] = [];
  /** Paragraphs that are open: one of a text box stands in another. */
  const paragraphs: Paragraph[] = [];
  /** Rows that are open: those of tables in cells stand in others. */
  const rows: string[][] = [];
  const links: (string | undefined)[] = [];
  const changes = createChanges();
  /** The words of comments whose range is open, and of those whose range is not. */
  const open = new Map<string, string>();
  const ranges = new Map<string, string>();
  let noted: string[] = [];
  /** In these is what is said again for older programs. */
  let skipped = 0;
  let isText = false;
  /** The reading of words, which stands before them. */
  let reading: string | undefined;
  let isReading = false;

  const say = (text: string) => {
    const paragraph = paragraphs.at(-1);
    if (!paragraph || skipped > 0) return;
    if (isReading) reading += text;
    else if (changes.say(text)) {
      paragraph.text += text;
      for (const [id, said] of open) {
        if (said.length < ON) open.set(id, said + text);
        else endRange(id);
      }
    }
  };
  const endRange = (id: string) => {
    const said = open.get(id);
    if (said !== undefined) ranges.set(id, said);
    open.delete(id);
  };
  const note = (id: string) => {
    const comment = comments.get(id);
    endRange(id);
    if (!comment || skipped > 0) return;
    const on = (ranges.get(id) ?? '').trim();
    const { title, isDone, text } = comment;
    noted.push(`[${title}${on && ` on "${shortened(on)}"`}${isDone ? ', resolved' : ''}] ${text}`);
  };
  /** Says what was changed and noted, behind the paragraph or the table that it is in. */
  const sayAside = (isItem: boolean) => {
    const aside = [...changes.all(), ...noted];
    noted = [];
    if (aside.length > 0) blocks.push(`${aside.join('\n')}\n${isItem ? '' : '\n'}`);
  };
  const end = (paragraph: Paragraph) => {
    const text = paragraph.text.trim();
    const row = rows.at(-1);
    if (row) {
      const cell = row.at(-1);
      if (cell !== undefined && text) row[row.length - 1] = cell ? `${cell} ${text}` : text;
      return;
    }
    if (text) blocks.push(`${paragraph.prefix}${text}\n${paragraph.isItem ? '' : '\n'}`);
    sayAside(paragraph.isItem);
  };
  const change = (kind: ChangeKind) => (attributes: Attributes) =>
    changes.begin(kind, attribute(attributes, 'author') ?? '');

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
    delText: () => (isText = true),
    tab: () => say('\t'),
    br: () => say('\n'),
    cr: () => say('\n'),
    noBreakHyphen: () => say('-'),
    tr: () => rows.push([]),
    tc: () => rows.at(-1)?.push(''),
    hyperlink: (attributes) => links.push(relations.get(attribute(attributes, 'id') ?? '')),
    ruby: () => (reading = ''),
    rt: () => (isReading = reading !== undefined),
    footnoteReference: (attributes) => say(`[^${attribute(attributes, 'id') ?? ''}]`),
    endnoteReference: (attributes) => say(`[^e${attribute(attributes, 'id') ?? ''}]`),
    footnote: (attributes) => beginNote(attributes),
    endnote: (attributes) => beginNote(attributes),
    commentRangeStart: (attributes) => open.set(attribute(attributes, 'id') ?? '', ''),
    commentRangeEnd: (attributes) => endRange(attribute(attributes, 'id') ?? ''),
    commentReference: (attributes) => note(attribute(attributes, 'id') ?? ''),
    Fallback: () => (skipped += 1),
    ins: change('inserted'),
    del: change('deleted'),
    moveFrom: change('moved away'),
    moveTo: change('moved here'),
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
    delText: () => (isText = false),
    tr: () => {
      const row = rows.pop() ?? [];
      const line = `| ${row.map((cell) => cell.replaceAll('\n', ' ').replaceAll('|', '\\|')).join(' | ')} |`;
      const outer = rows.at(-1);
      if (!outer) blocks.push(`${line}\n`);
      else if (outer.length > 0) outer[outer.length - 1] += ` ${row.join('; ')}`;
    },
    tbl: () => {
      if (rows.length > 0) return;
      blocks.push('\n');
      sayAside(false);
    },
    hyperlink: () => {
      const target = links.pop();
      if (target) say(` (${target})`);
    },
    rt: () => (isReading = false),
    ruby: () => {
      if (reading?.trim()) say(`(${reading.trim()})`);
      reading = undefined;
    },
    footnote: endNote,
    endnote: endNote,
    Fallback: () => (skipped -= 1),
    ins: changes.end,
    del: changes.end,
    moveFrom: changes.end,
    moveTo: changes.end,
  };
  visitXml(bytes, {
    open: (name, attributes) => ownOf(opened, name)?.(attributes),
    close: (name) => ownOf(closed, name)?.(),
    text: (text) => isText && say(text),
  });
  return blocks;
}

/** An element may have any name, also that of what every object has. */
const ownOf = <Value>(values: Record<string, Value>, name: string): Value | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
