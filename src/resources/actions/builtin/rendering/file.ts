/** Describes the result of a rendering action: a text file that a person can open. */
import { z } from 'zod';
import type { ActionContext } from '../action.ts';
import { slugify } from './markup.ts';

export interface RenderedFile {
  filename: string;
  content_type: string;
  content: string;
}

export const HtmlFile = z.object({ filename: z.string(), content_type: z.literal('text/html'), content: z.string() });

const EXTENSIONS = { 'text/html': 'html', 'text/markdown': 'md', 'image/svg+xml': 'svg' } as const;

export const fileOf = (
  { project }: Pick<ActionContext, 'project'>,
  contentType: keyof typeof EXTENSIONS,
  content: string,
): RenderedFile => ({
  filename: `${slugify(project.title)}.${EXTENSIONS[contentType]}`,
  content_type: contentType,
  content,
});
