/**
 * Reads the text of a Word document: paragraphs, headings, lists, tables, notes, headers, footers and where links lead to. It is read
 * as with all changes accepted; what was changed, and what people noted, is said behind its paragraph.
 */
import { damagedDocument, type Archive } from './archive.ts';
import { blocksOf } from './docx-blocks.ts';
import { commentsIn } from './docx-comments.ts';
import { createCollector, type OpenDocument } from './model.ts';
import { mainPartOf, partsOf, relationsOf } from './office.ts';

/** @throws DocumentError */
export async function readDocx(archive: Archive): Promise<OpenDocument> {
  const name = await mainPartOf(archive, 'word/document.xml');
  const body = await archive.read(name);
  if (!body) throw damagedDocument('there is no word/document.xml');
  const collected = createCollector();
  const read = async (part: string, mark = ''): Promise<string> => {
    const bytes = await archive.read(part);
    const options = { relations: await relationsOf(archive, part), comments, mark };
    return bytes ? blocksOf(bytes, options).join('') : '';
  };
  const around = async (kind: string): Promise<Set<string>> => {
    const said = new Set<string>();
    for (const part of await partsOf(archive, name, kind)) {
      const text = (await read(part)).replaceAll(/\s+/g, ' ').trim();
      if (text) said.add(`[${kind}] ${text}\n\n`);
    }
    return said;
  };
  const comments = await commentsIn(archive, name);
  for (const header of await around('header')) collected.add(header);
  collected.add(await read(name));
  for (const [kind, mark] of [
    ['footnotes', ''],
    ['endnotes', 'e'],
  ] as const) {
    const [part = `word/${kind}.xml`] = await partsOf(archive, name, kind);
    collected.add(await read(part, mark));
  }
  for (const footer of await around('footer')) collected.add(footer);
  const text = collected.all().trim();
  return { unit: null, count: 1, text: () => text };
}
