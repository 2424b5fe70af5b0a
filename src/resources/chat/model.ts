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

/**
 * @returns what the agent is told: the files of a message are named, and it reads them with the tool `read_attachment`
 */
export const promptOf = (content: string, files: readonly { id: string; filename: string }[]): string =>
  [content, ...files.map(({ id, filename }) => `[attached: ${filename}, id ${id}]`)].join('\n\n');
