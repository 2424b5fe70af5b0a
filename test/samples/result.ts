/** How an artifact of a phase stands in a sample's `result/` folder: a page as HTML, everything else as JSON or text. */
import { isRecord } from '../../src/platform/core/record.ts';

const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'text/markdown': 'md',
  'image/svg+xml': 'svg',
};

export function resultFile(phase: string, content: unknown): { name: string; text: string } {
  if (typeof content === 'string') return { name: `${phase}.md`, text: content };
  if (isRecord(content) && typeof content.content === 'string' && typeof content.content_type === 'string')
    return { name: `${phase}.${EXTENSIONS[content.content_type] ?? 'txt'}`, text: content.content };
  return { name: `${phase}.json`, text: `${JSON.stringify(content, null, 2)}\n` };
}
