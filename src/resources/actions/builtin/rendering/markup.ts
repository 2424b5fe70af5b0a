import { present } from '../../../../platform/core/present.ts';

/**
 * Builds markup that cannot forget to escape: a value in an `html` template is text unless it is markup itself.
 *
 * Everything that an action renders was written by a model or a tenant. Only `raw` lets a string through unescaped;
 * give it nothing but this product's own markup and the output of a sanitiser.
 */

/** JSON has no symbols, so a value that came in as data cannot pass for markup. */
const MARKUP = Symbol('markup');
export interface Markup {
  readonly [MARKUP]: string;
}
export type MarkupContent = string | number | Markup | readonly MarkupContent[] | null | undefined | false;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Neither HTML nor XML may hold these characters. */

const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g;

export const plain = (text: string): string => text.toWellFormed().replace(FORBIDDEN, '');
const escape = (text: string): string => plain(text).replace(/[&<>"']/g, (char) => present(ENTITIES[char]));

function render(content: MarkupContent): string {
  if (content === null || content === undefined || content === false) return '';
  if (typeof content === 'string') return escape(content);
  if (typeof content === 'number') return String(content);
  return MARKUP in content ? content[MARKUP] : content.map(render).join('');
}

export const raw = (markup: string): Markup => ({ [MARKUP]: markup });
/** It serves for SVG too, because XML needs the same characters escaped. */
export const html = (strings: TemplateStringsArray, ...values: MarkupContent[]): Markup =>
  raw(strings.reduce((text, next, index) => text + render(values[index - 1]) + next));
export const textOf = (markup: Markup): string => markup[MARKUP];

/** Makes a name that is safe in file names and ids. */
export const slugify = (text: string, fallback = 'untitled'): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '') || fallback;
