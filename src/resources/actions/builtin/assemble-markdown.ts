/** Joins what earlier steps wrote into one Markdown document with a title and contents. */
import { itemAt } from '../../../platform/core/present.ts';
import { ActionError, type Action } from './action.ts';
import { fileOf } from './rendering/file.ts';
import { MarkdownPart, splitTitle } from './rendering/markdown.ts';
import { plain, slugify } from './rendering/markup.ts';
import { sourcesOf } from './rendering/sources.ts';

const titleCase = (slug: string) => slug.replace(/[-_]+/g, ' ').replace(/^./, (first) => first.toUpperCase());
const asText = (markdown: string) => plain(markdown).replace(/<(?!https?:)/g, '&lt;');
/** A heading must be one line, and a bracket in it would end its link in the table of contents. */
const inLine = (text: string) => asText(text.replace(/\s+/g, ' ').trim());
const inLink = (text: string) => inLine(text).replace(/[[\]\\]/g, '\\$&');
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const INLINE_CODE = /(?<!\\)(`[^`]+`)/;

/**
 * Moves headings one level down, because the document itself has the only heading of the first level, and turns tags
 * into text, because a model wrote Markdown and not HTML. Code stays as it is. A code block that was left open is
 * closed at the end of its section.
 */
function embedded(markdown: string): string {
  let fence = '';
  const lines = markdown.split('\n').map((line) => {
    if (fence) {
      if (line.trim().startsWith(fence) && line.trim().replaceAll(itemAt(fence, 0), '') === '') fence = '';
      return line;
    }
    fence = FENCE.exec(line)?.[1] ?? '';
    const parts = line.split(INLINE_CODE).map((part, index) => (index % 2 === 1 ? part : asText(part)));
    return fence ? line : parts.join('').replace(/^#{1,5}(?=\s)/, '#$&');
  });
  return [...lines, ...(fence ? [fence] : [])].join('\n');
}

export const assembleMarkdown: Action = {
  name: 'assemble_markdown',
  description:
    'Joins the texts of earlier steps and phases into one Markdown document with title, contents and a section each. ' +
    'The instructions may name steps and phases in the order in which they should appear.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const sections = sourcesOf(context).flatMap(({ slug, value }) => {
      const { data } = MarkdownPart.safeParse(value);
      if (!data) return [];
      const { title, rest } = splitTitle(data.content);
      return [
        { heading: inLine(data.title ?? title ?? titleCase(slug)), label: titleCase(slug), text: embedded(rest) },
      ];
    });
    if (sections.length === 0) {
      throw new ActionError(
        'missing texts to join: no earlier step or phase gave Markdown or an object with "content"',
      );
    }
    const anchors = sections.map(({ label }, index) => `${index + 1}-${slugify(label, 'section')}`);
    const contents = sections.map(
      ({ label, heading }, index) =>
        `${index + 1}. [${inLink(label === heading ? label : `${label}: ${heading}`)}](#${itemAt(anchors, index)})`,
    );
    const bodies = sections.map(
      ({ heading, text }, index) => `<a id="${itemAt(anchors, index)}"></a>\n\n## ${heading}\n\n${text.trim()}`,
    );
    const document = [`# ${inLine(context.project.title)}`, contents.join('\n'), ...bodies].join('\n\n');
    return fileOf(context, 'text/markdown', `${document}\n`);
  },
};
