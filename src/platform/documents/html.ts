/** Reads web pages as text: headings, lists, tables, and where links lead to. Scripts do not run, and nothing is fetched. */
import { parse, type DefaultTreeAdapterMap } from 'parse5';
import { createCollector, DocumentError, limitedText, MAX_DEPTH, type OpenDocument } from './model.ts';
import { decodeText, notText } from './text.ts';

type Node = DefaultTreeAdapterMap['node'];

/** What is in these is no text of the page; brackets of a reading (`rp`) are set around each. */
const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'select', 'rp']);
/** These begin and end a line. */
const BLOCKS = new Set(
  `address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead title tr ul`.split(/\s+/),
);
const HEADING = /^h([1-6])$/;
const isApart = (name: string): boolean => HEADING.test(name) || ['p', 'table', 'title'].includes(name);

/** @throws DocumentError */
export function readHtml(bytes: Buffer): OpenDocument {
  const found = decodeText(bytes, declaredIn(bytes));
  if (!found) throw notText(bytes);
  const text = htmlText(found.text);
  return { unit: null, count: 1, text: () => text };
}

/** A page may say what encoding it is in, which counts where its bytes do not say it. */
const declaredIn = (bytes: Buffer): string | undefined =>
  /charset=["']?([\w-]{2,30})/i.exec(bytes.subarray(0, 4_096).toString('latin1'))?.[1];

/** @throws DocumentError too_large */
export function htmlText(html: string): string {
  const out = createCollector();
  /** What stands between the text so far and the next one. */
  let gap = '';
  let isFirst = true;
  let preformatted = 0;
  const breakLine = (lines = '\n') => {
    if (gap.length < lines.length || !gap.startsWith('\n')) gap = lines;
  };
  const say = (text: string) => {
    const words = preformatted > 0 ? text : text.replace(/[\t\n\f\r ]+/g, ' ');
    const said = preformatted > 0 || gap.startsWith('\n') || isFirst ? words.replace(/^ /, '') : words;
    if (said === '') return;
    out.add((isFirst ? '' : gap) + said);
    gap = '';
    isFirst = false;
  };

  const enter = (name: string) => {
    const level = HEADING.exec(name)?.[1];
    if (BLOCKS.has(name)) breakLine(isApart(name) ? '\n\n' : '\n');
    if (level) say(`${'#'.repeat(Number(level))} `);
    else if (name === 'li') say('- ');
    else if (name === 'br') breakLine();
    else if (name === 'td' || name === 'th') say('| ');
    if (name === 'pre') preformatted += 1;
  };
  const leave = (name: string, link: string | undefined) => {
    if (link) say(` (${link})`);
    if ((name === 'td' || name === 'th') && gap === '') gap = ' ';
    if (name === 'pre') preformatted -= 1;
    if (BLOCKS.has(name)) breakLine(isApart(name) ? '\n\n' : '\n');
  };

  // The tree may be deeper than the stack of calls.
  const stack: { node: Node; at: number; name: string; link: string | undefined }[] = [];
  const push = (node: Node) => {
    const name = 'tagName' in node ? node.tagName : '';
    if (HIDDEN.has(name)) return;
    if (name === 'rt') {
      const reading = wordsIn(node);
      if (reading) say(`(${reading})`);
      return;
    }
    if (stack.length > MAX_DEPTH) {
      throw new DocumentError('too_large', `its elements are nested more than ${MAX_DEPTH} deep`);
    }
    enter(name);
    stack.push({ node, at: 0, name, link: linkOf(node) });
  };
  push(parse(html));
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const child = 'childNodes' in top.node ? top.node.childNodes[top.at] : undefined;
    top.at += 1;
    if (!child) {
      leave(top.name, top.link);
      stack.pop();
    } else if ('value' in child) say(child.value);
    else push(child);
  }
  return limitedText(out.all().trim());
}

/** @returns what stands in a node, without lines and tables */
function wordsIn(node: Node): string {
  const out = createCollector();
  const left = [node];
  for (let next = left.pop(); next; next = left.pop()) {
    if ('value' in next) out.add(next.value);
    else if ('childNodes' in next) for (const child of next.childNodes.toReversed()) left.push(child);
  }
  return out.all().replaceAll(/\s+/g, ' ').trim();
}

/** @returns the address of a link that leads to another page */
function linkOf(node: Node): string | undefined {
  if (!('tagName' in node) || node.tagName !== 'a') return undefined;
  const href = node.attrs.find(({ name }) => name === 'href')?.value;
  return href && /^https?:/i.test(href) && href.length < 2_000 ? href : undefined;
}
