/** Keeps the end of what a command writes to its standard error, for the message that says that it died. */
import { withoutKeys } from '../core/text.ts';

const MAX_LINES = 10;
const MAX_LENGTH = 1_000;
const MAX_LINE = 300;
/** Shorter values are words that everything has ("1", "true", "debug"). */
const MIN_SECRET = 6;

export interface LastWords {
  add(line: string): void;
  /** @returns the message with what was written last, if anything was */
  after(message: string): string;
}

/** @param secrets what is taken out of them: the values of the command's environment and its arguments */
export function createLastWords(secrets: readonly string[]): LastWords {
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET).sort((a, b) => b.length - a.length);
  let lines: string[] = [];
  return {
    add(line) {
      lines = [...lines, line.trim()].slice(-MAX_LINES);
    },
    after(message) {
      const redacted = hidden.reduce((text, secret) => text.replaceAll(secret, '***'), lines.join('\n'));
      const safe = withoutKeys(redacted)
        .replace(LOOKS_SECRET, (_, scheme: string | undefined, name: string) => `${scheme ?? name}***`)
        .split('\n')
        .map((line) => line.slice(0, MAX_LINE))
        .join('\n');
      return safe ? `${message}; it wrote: ${safe.slice(-MAX_LENGTH).toWellFormed()}` : message;
    },
  };
}

/** Credentials in addresses, and what stands behind a name that tells that it is secret. */
const LOOKS_SECRET =
  /(:\/\/)[^\s/@]+@|((?:password|passwd|secret|token|api[_-]?key|authorization)["']?\s*[=:]\s*)[^\s,;]+/gi;
