/** What stands beside the cells of a sheet: its header and footer, notes, and conversations about a cell. */
import type { Archive } from './archive.ts';
import { partsOf } from './office.ts';
import { attribute, visitXml } from './xml.ts';

/** @returns a line for each comment on a cell of the sheet */
export async function commentsOf(
  archive: Archive,
  sheet: string,
  people: ReadonlyMap<string, string>,
): Promise<string[]> {
  const lines: string[] = [];
  const threads = await partsOf(archive, sheet, 'threadedComment');
  for (const part of threads) {
    let isText = false;
    let mark = '';
    let text = '';
    visitXml((await archive.read(part)) ?? NOTHING, {
      open(name, attributes) {
        isText = name === 'text';
        if (name !== 'threadedComment') return;
        const [of, who] = ['ref', 'personId'].map((each) => attribute(attributes, each) ?? '');
        const what = attribute(attributes, 'parentId') === undefined ? 'comment' : 'answer';
        const done = /^(?:1|true)$/.test(attribute(attributes, 'done') ?? '') ? ', resolved' : '';
        mark = markOf(what, of, people.get(who ?? '')) + done;
        text = '';
      },
      close(name) {
        isText = false;
        if (name === 'threadedComment') lines.push(`[${mark}] ${text.trim()}`);
      },
      text(piece) {
        if (isText) text += piece;
      },
    });
  }
  for (const part of await partsOf(archive, sheet, 'comments')) {
    lines.push(...notesIn((await archive.read(part)) ?? NOTHING, threads.length > 0));
  }
  return lines.map((line) => line.replaceAll(/[\t\r\n ]+/g, ' '));
}

const NOTHING = Buffer.from('<nothing/>');

const markOf = (what: string, of = '', who = ''): string => `${what} on ${of}${who && ` by ${who}`}`;

/** @param isThreaded each conversation stands in the notes once more, for older programs */
function notesIn(bytes: Buffer, isThreaded: boolean): string[] {
  const lines: string[] = [];
  const authors: string[] = [];
  let note: { of: string; who: string; text: string } | undefined;
  let into: 'author' | 'text' | undefined;
  visitXml(bytes, {
    open(name, attributes) {
      if (name === 'author') authors.push('');
      if (name === 'comment') {
        const who = authors[Number(attribute(attributes, 'authorId') ?? -1)] ?? '';
        note = { of: attribute(attributes, 'ref') ?? '', who, text: '' };
      }
      into = name === 'author' ? 'author' : name === 't' ? 'text' : undefined;
    },
    close(name) {
      into = undefined;
      if (name !== 'comment' || !note) return;
      const { of, who, text } = note;
      const isAgain = isThreaded && who.startsWith('tc=');
      // The name of who wrote it stands before it, for people.
      const said = text.startsWith(`${who}:`) ? text.slice(who.length + 1) : text;
      if (!isAgain && said.trim()) lines.push(`[${markOf('comment', of, who)}] ${said.trim()}`);
      note = undefined;
    },
    text(piece) {
      if (into === 'author') authors[authors.length - 1] += piece;
      else if (into === 'text' && note) note.text += piece;
    },
  });
  return lines;
}

/** @returns those who wrote in conversations, by what they are called in them */
export async function peopleOf(archive: Archive, workbook: string): Promise<Map<string, string>> {
  const people = new Map<string, string>();
  for (const part of await partsOf(archive, workbook, 'person')) {
    visitXml((await archive.read(part)) ?? NOTHING, {
      open(name, attributes) {
        const [id, title] = [attribute(attributes, 'id'), attribute(attributes, 'displayName')];
        if (name === 'person' && id && title) people.set(id, title);
      },
    });
  }
  return people;
}

/** Stands for what is worked out with each page. */
const FIELDS: Readonly<Record<string, string>> = {
  P: '#',
  N: '#',
  D: 'date',
  T: 'time',
  F: 'file',
  A: 'sheet',
  Z: 'path',
};

/** @param code of a header or footer, with its parts and how they look */
export const headerText = (code: string): string =>
  code
    .replaceAll(/&(?:"[^"]*"|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|\d{1,3}|.)/gi, (mark) => {
      const letter = mark[1]?.toUpperCase() ?? '';
      if (letter === '&') return '&';
      return 'LCR'.includes(letter) ? '\t' : (FIELDS[letter] ?? '');
    })
    .split('\t')
    .map((part) => part.replaceAll(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join(' | ');
