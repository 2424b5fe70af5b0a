/** Reads presentations, slide by slide: what is on it, tables, the speaker's notes and comments. */
import { damagedDocument, type Archive } from './archive.ts';
import { createCollector, DocumentError, limitedText, MAX_PAGES, type OpenDocument } from './model.ts';
import { mainPartOf, relationsOf } from './office.ts';
import { authorsOf, commentsOn } from './pptx-comments.ts';
import { attribute, visitXml } from './xml.ts';

/** @throws DocumentError */
export async function readPptx(archive: Archive): Promise<OpenDocument> {
  const name = await mainPartOf(archive, 'ppt/presentation.xml');
  const bytes = await archive.read(name);
  if (!bytes) throw damagedDocument('there is no ppt/presentation.xml');
  const relations = await relationsOf(archive, name);
  const slides: string[] = [];
  visitXml(bytes, {
    open(element, attributes) {
      const slide = element === 'sldId' ? relations.get(attribute(attributes, 'id') ?? '') : undefined;
      if (slide !== undefined) slides.push(slide);
    },
  });
  if (slides.length > MAX_PAGES) throw new DocumentError('too_large', `it has more than ${MAX_PAGES} slides`);
  if (slides.length === 0) throw new DocumentError('no_text', 'it has no slides');
  const authors = await authorsOf(archive, name);
  return {
    unit: 'slide',
    count: slides.length,
    async text(number) {
      const slide = slides[number - 1] ?? '';
      const comments = (await commentsOn(archive, slide, authors)).join('\n');
      return limitedText([await slideText(archive, slide), comments].filter(Boolean).join('\n\n'));
    },
  };
}

async function slideText(archive: Archive, name: string): Promise<string> {
  const bytes = await archive.read(name);
  if (!bytes) return '';
  const text = shapesText(bytes);
  const related = await relationsOf(archive, name);
  const notesName = [...related.values()].find((part) => part.startsWith('ppt/notesSlides/'));
  const notes = notesName === undefined ? undefined : await archive.read(notesName);
  const said = notes
    ? shapesText(notes)
        .replace(/(?:^|\n)\d+$/, '')
        .trim()
    : '';
  return said ? `${text}\n\nNotes: ${said}` : text;
}

function shapesText(bytes: Buffer): string {
  const out = createCollector();
  let line = '';
  let row: string[] | undefined;
  let isText = false;
  visitXml(bytes, {
    open(name) {
      if (name === 't') isText = true;
      else if (name === 'tr') row = [];
      else if (name === 'tc') row?.push('');
      else if (name === 'br') line += '\n';
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'p') {
        const text = line.trim();
        line = '';
        if (row && row.length > 0) row.push([row.pop(), text].filter(Boolean).join(' '));
        else if (text) out.add(`${text}\n`);
      } else if (name === 'tr' && row) {
        out.add(`| ${row.join(' | ')} |\n`);
        row = undefined;
      }
    },
    text(text) {
      if (isText) line += text;
    },
  });
  return out.all().trim();
}
