import { z } from 'zod';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';

const MAX_BYTES = 1_024 * 1_024;
const MAX_NAME = 120;

/** Only types of text are allowed, because a model can write nothing else. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  svg: 'image/svg+xml',
  xml: 'application/xml',
  yaml: 'application/yaml',
};

/**
 * @returns the last part of a path, without what a file system or a header could trip on; a long one keeps its
 * extension
 */
const baseName = (filename: string): string => {
  const name = (filename.normalize('NFC').split(/[/\\]/).at(-1) ?? '')
    .replace(/[\p{C}<>:"|?*]/gu, '')
    .replace(/^[\s.]+|(?<![\s.])[\s.]+$/g, '');
  if (!name) throw new ToolError(`${JSON.stringify(filename)} is not a file name: give one such as report.md`);
  if (name.length <= MAX_NAME) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
  return (
    Array.from(name.slice(0, name.length - extension.length))
      .slice(0, MAX_NAME / 2)
      .join('') + extension
  );
};

export const saveArtifact = builtinTool({
  slug: 'save_artifact',
  area: 'files',
  description:
    'Saves a text file with this run, where people can open and download it. Use it for results that are more than a ' +
    'short answer: reports, tables, code, pages. Returns {artifact_id, filename, size_bytes}.',
  // The artifact is stored under the id of the call: saving again replaces nothing and adds nothing.
  effect: 'idempotent',
  args: z.strictObject({
    filename: z.string().min(1).max(1_000).describe('Name with extension, without folders, for example report.md'),
    content: z.string().describe('The whole text of the file, at most 1 MB'),
    content_type: z
      .string()
      .max(100)
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'expects a media type such as text/markdown')
      .optional()
      .describe('Media type; by default from the extension'),
  }),
  async execute({ filename, content, content_type }, { saveArtifact: save }) {
    const bytes = Buffer.from(content, 'utf8');
    if (bytes.length > MAX_BYTES) {
      throw new ToolError(`the content has ${bytes.length} bytes, a file may have ${MAX_BYTES}: split or shorten it`);
    }
    const name = baseName(filename);
    const extension = name.split('.').at(-1)?.toLowerCase() ?? '';
    const known = Object.hasOwn(CONTENT_TYPES, extension) ? CONTENT_TYPES[extension] : undefined;
    const { artifactId } = await save({ filename: name, contentType: content_type ?? known ?? 'text/plain', bytes });
    return { artifact_id: artifactId, filename: name, size_bytes: bytes.length };
  },
});
