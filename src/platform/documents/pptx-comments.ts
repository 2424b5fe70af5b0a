/** Reads what people noted on slides, in the way of older programs and in that of newer ones, which have answers. */
import type { Archive } from './archive.ts';
import { partsOf } from './office.ts';
import { attribute, visitXml } from './xml.ts';

/** @returns who wrote comments, by the numbers that they have in them */
export async function authorsOf(archive: Archive, presentation: string): Promise<Map<string, string>> {
  const authors = new Map<string, string>();
  const parts = [
    ...(await partsOf(archive, presentation, 'commentAuthors')),
    ...(await partsOf(archive, presentation, 'authors')),
  ];
  for (const part of parts) {
    const bytes = await archive.read(part);
    if (!bytes) continue;
    visitXml(bytes, {
      open(name, attributes) {
        const [id, title] = [attribute(attributes, 'id'), attribute(attributes, 'name')];
        if ((name === 'cmAuthor' || name === 'author') && id && title) authors.set(id, title);
      },
    });
  }
  return authors;
}

/** @returns a line for each comment on the slide; an answer follows what it answers */
export async function commentsOn(
  archive: Archive,
  slide: string,
  authors: ReadonlyMap<string, string>,
): Promise<string[]> {
  const lines: string[] = [];
  for (const part of await partsOf(archive, slide, 'comments')) {
    const bytes = await archive.read(part);
    if (!bytes) continue;
    /** Answers stand in what they answer, and before its text. */
    const open: { mark: string; text: string; at: number }[] = [];
    let isText = false;
    visitXml(bytes, {
      open(name, attributes) {
        isText = name === 't' || name === 'text';
        if (name !== 'cm' && name !== 'reply') return;
        const who = authors.get(attribute(attributes, 'authorId') ?? '');
        const done = attribute(attributes, 'status') === 'resolved' ? ', resolved' : '';
        const mark = `${name === 'cm' ? 'comment' : 'answer'}${who === undefined ? '' : ` by ${who}`}${done}`;
        open.push({ mark, text: '', at: lines.length });
      },
      close(name) {
        isText = false;
        const comment = open.at(-1);
        if (name === 'p' && comment) comment.text += ' ';
        if ((name !== 'cm' && name !== 'reply') || !comment) return;
        open.pop();
        lines.splice(comment.at, 0, `[${comment.mark}] ${comment.text.replaceAll(/\s+/g, ' ').trim()}`);
      },
      text(text) {
        const comment = open.at(-1);
        if (isText && comment) comment.text += text;
      },
    });
  }
  return lines;
}
