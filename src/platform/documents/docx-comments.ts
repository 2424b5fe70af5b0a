/** Reads what people noted beside a Word document: who, and what; answers and what is settled are said as such. */
import type { Archive } from './archive.ts';
import { partsOf } from './office.ts';
import { attribute, visitXml } from './xml.ts';

export interface Comment {
  /** What it is and whose. */
  title: string;
  isDone: boolean;
  text: string;
}

/** @returns the comments by the numbers that the text has for them */
export async function commentsIn(archive: Archive, document: string): Promise<Map<string, Comment>> {
  const comments = new Map<string, Comment>();
  const [part = 'word/comments.xml'] = await partsOf(archive, document, 'comments');
  const bytes = await archive.read(part);
  if (!bytes) return comments;
  const threads = await threadsIn(archive, document);
  let now: { id: string; who: string; paragraph: string; text: string } | undefined;
  let isText = false;
  visitXml(bytes, {
    open(name, attributes) {
      isText = name === 't';
      if (name === 'comment') {
        const [id = '', who = ''] = ['id', 'author'].map((each) => attribute(attributes, each));
        now = { id, who, paragraph: '', text: '' };
      } else if (name === 'p' && now) {
        now.paragraph = attribute(attributes, 'paraId') ?? '';
        now.text += ' ';
      }
    },
    close(name) {
      isText = false;
      if (name !== 'comment' || !now) return;
      const { isAnswer = false, isDone = false } = threads.get(now.paragraph) ?? {};
      const title = `${isAnswer ? 'answer' : 'comment'}${now.who && ` by ${now.who}`}`;
      comments.set(now.id, { title, isDone, text: now.text.replaceAll(/\s+/g, ' ').trim() });
    },
    text(text) {
      if (isText && now) now.text += text;
    },
  });
  return comments;
}

interface Thread {
  isAnswer: boolean;
  isDone: boolean;
}

/** @returns by the last paragraph of a comment */
async function threadsIn(archive: Archive, document: string): Promise<Map<string, Thread>> {
  const threads = new Map<string, Thread>();
  for (const part of await partsOf(archive, document, 'commentsExtended')) {
    const bytes = await archive.read(part);
    if (!bytes) continue;
    visitXml(bytes, {
      open(name, attributes) {
        const paragraph = attribute(attributes, 'paraId');
        if (name !== 'commentEx' || paragraph === undefined) return;
        const isDone = /^(?:1|true)$/.test(attribute(attributes, 'done') ?? '');
        threads.set(paragraph, { isAnswer: attribute(attributes, 'paraIdParent') !== undefined, isDone });
      },
    });
  }
  return threads;
}

/** So much of words that stand elsewhere tells which they are. */
const ENOUGH = 80;

export const shortened = (text: string): string =>
  text.length <= ENOUGH ? text : `${text.slice(0, ENOUGH - 30).trimEnd()} … ${text.slice(-29).trimStart()}`;
