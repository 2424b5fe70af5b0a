/** Words and rules of chat. */
export const MESSAGE_ROLES = ['user', 'assistant'] as const;

const MAX_TITLE = 80;

/** @returns the beginning of what was said first, on one line */
export function titleFrom(content: string): string {
  const line = [...content.trim().replace(/\s+/g, ' ')];
  return line.length <= MAX_TITLE
    ? line.join('')
    : `${line
        .slice(0, MAX_TITLE - 1)
        .join('')
        .trimEnd()}…`;
}

interface AttachedFile {
  id: string;
  filename: string;
  reading: { summary: string } | null;
}

/**
 * @returns what the agent is told: the files of a message are named, with what they are, and it reads them with the tool
 * `read_attachment`
 */
export const promptOf = (content: string, files: readonly AttachedFile[]): string =>
  [
    content,
    ...files.map(
      ({ id, filename, reading }) => `[attached: ${filename}, ${reading ? `${reading.summary}, ` : ''}id ${id}]`,
    ),
  ].join('\n\n');
