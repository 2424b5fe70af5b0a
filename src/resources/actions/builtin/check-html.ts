/**
 * Tests an HTML document by parsing it as a browser does: its outline, names and links, and that it loads nothing from
 * elsewhere.
 */
import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from 'parse5';
import { itemAt, present } from '../../../platform/core/present.ts';
import type { Action } from './action.ts';
import { HtmlFile } from './rendering/file.ts';
import { requirePart } from './rendering/sources.ts';

type Element = DefaultTreeAdapterTypes.Element;
type Node = DefaultTreeAdapterTypes.ChildNode;

const MAX_FINDINGS = 50;
const isElement = (node: Node): node is Element => defaultTreeAdapter.isElementNode(node);

function* elementsIn(nodes: readonly Node[]): Generator<Element> {
  for (const node of nodes) {
    if (!isElement(node)) continue;
    yield node;
    yield* elementsIn(node.childNodes);
  }
}

const attribute = ({ attrs }: Element, name: string): string | undefined =>
  attrs.find((attr) => attr.name === name)?.value;

/** @returns what a screen reader says for the element: its label, otherwise its text and that of pictures in it */
function nameOf(element: Element): string {
  const given = attribute(element, 'aria-label') ?? attribute(element, 'alt') ?? attribute(element, 'title');
  if (given !== undefined) return given.trim();
  const texts = element.childNodes.map((node) => {
    if (defaultTreeAdapter.isTextNode(node)) return node.value;
    return isElement(node) ? nameOf(node) : '';
  });
  return texts.join(' ').trim();
}

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

function outlineFaults(elements: readonly Element[]): string[] {
  const headings = elements.filter(({ tagName }) => /^h[1-6]$/.test(tagName));
  const first = headings.filter(({ tagName }) => tagName === 'h1').length;
  const levels = headings.map(({ tagName }) => Number(tagName[1]));
  return [
    ...(first === 1 ? [] : [`the page has ${first} headings of the first level instead of one`]),
    ...headings.flatMap((heading, index) => {
      const before = levels[index - 1] ?? 0;
      if (nameOf(heading) === '') return [`heading ${index + 1} is empty`];
      return index > 0 && itemAt(levels, index) > before + 1
        ? [`"${short(nameOf(heading))}" is a heading of level ${itemAt(levels, index)} after one of level ${before}`]
        : [];
    }),
  ];
}

function linkFaults(elements: readonly Element[], ids: ReadonlySet<string>): string[] {
  return elements
    .filter(({ tagName }) => tagName === 'a')
    .flatMap((link) => {
      const href = attribute(link, 'href') ?? '';
      const name = short(nameOf(link) || href);
      if (href === '') return [`the link "${name}" leads nowhere`];
      if (nameOf(link) === '') return [`the link to ${name} has no text`];
      if (href.startsWith('#'))
        return ids.has(href.slice(1)) ? [] : [`the link "${name}" leads to ${href}, which is not there`];
      if (/^(https?|mailto|tel):/i.test(href))
        return URL.canParse(href) ? [] : [`the link "${name}" has a malformed address`];
      if (/^data:/i.test(href) && attribute(link, 'download') !== undefined) return [];
      return [`the link "${name}" leads to ${short(href)}, which this file alone does not have`];
    });
}

function nameFaults(elements: readonly Element[]): string[] {
  return elements.flatMap((element) => {
    const { tagName } = element;
    if (tagName === 'img' && attribute(element, 'alt') === undefined) return ['a picture has no alt text'];
    if (tagName === 'svg' && attribute(element, 'role') === 'img' && nameOf(element) === '')
      return ['a drawing has no name'];
    if (tagName === 'button' && nameOf(element) === '') return ['a button has no name'];
    return [];
  });
}

const LOADING: Readonly<Record<string, string>> = {
  script: 'src',
  img: 'src',
  iframe: 'src',
  link: 'href',
  source: 'src',
};

const loadFaults = (elements: readonly Element[]): string[] =>
  elements.flatMap((element) => {
    const from = Object.hasOwn(LOADING, element.tagName)
      ? attribute(element, present(LOADING[element.tagName]))
      : undefined;
    return from === undefined || from.startsWith('data:')
      ? []
      : [`<${element.tagName}> loads ${short(from)} from elsewhere`];
  });

/** @returns the faults of a document, and a summary of what was inspected */
function inspect(content: string): { faults: string[]; looked: string } {
  const parseFaults: string[] = [];
  const document = parse(content, {
    onParseError: ({ code, startLine }) => parseFaults.push(`line ${startLine}: ${code.replaceAll('-', ' ')}`),
  });
  const elements = [...elementsIn(document.childNodes)];
  const find = (tag: string) => elements.find(({ tagName }) => tagName === tag);
  const ids = elements.flatMap((element) => attribute(element, 'id') ?? []);
  const seen = new Set<string>();
  const twice = new Set(ids.filter((id) => seen.size === seen.add(id).size));
  const title = find('title');
  const count = (pattern: RegExp) => elements.filter(({ tagName }) => pattern.test(tagName)).length;
  return {
    faults: [
      ...parseFaults,
      ...(attribute(present(find('html')), 'lang') ? [] : ['the page does not say its language']),
      ...(title && nameOf(title) ? [] : ['the page has no title']),
      ...Array.from(twice, (id) => `two elements have the id "${short(id)}"`),
      ...outlineFaults(elements),
      ...linkFaults(elements, new Set(ids)),
      ...nameFaults(elements),
      ...loadFaults(elements),
    ],
    looked: `${count(/^h[1-6]$/)} headings, ${count(/^a$/)} links and ${count(/^(img|svg)$/)} pictures`,
  };
}

export const checkHtml: Action = {
  name: 'check_html',
  description:
    'Tests the HTML of an earlier step: well-formed, one first-level heading and no gaps below it, links that lead ' +
    'somewhere, names for pictures and buttons, nothing loaded from elsewhere. Returns {passed, findings}.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const { content } = requirePart(context, 'HTML page to test', 'content', HtmlFile);
    const { faults, looked } = inspect(content);
    return faults.length === 0
      ? { passed: true, findings: [`no fault in ${looked}`] }
      : { passed: false, findings: faults.slice(0, MAX_FINDINGS) };
  },
};
