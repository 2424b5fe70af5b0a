/** Finds remembered texts in a system prompt, where each stands between <memory> tags. */

const OPENING = /<memory\b/g;
const CLOSING = '</memory>';
const MOST_QUOTED = 20;

interface Memories {
  /** What each of the first memories says, without its tags. */
  contents: string[];
  /** The system prompt without them. */
  rest: string;
}

/**
 * Splits a system prompt. It searches for the end of a tag instead of matching one pattern from tag to tag, which for
 * each tag without an end would read all that follows.
 */
export function splitMemories(system: string): Memories {
  const contents: string[] = [];
  let rest = '';
  let at = 0;
  for (const { index } of system.matchAll(OPENING)) {
    if (index < at) continue;
    const end = system.indexOf(CLOSING, index);
    if (end < 0) break;
    const body = system.indexOf('>', index) + 1;
    if (contents.length < MOST_QUOTED && body > 0 && body <= end) {
      contents.push(system.slice(body, end).trim());
    }
    rest += system.slice(at, index);
    at = end + CLOSING.length;
  }
  return { contents, rest: rest + system.slice(at) };
}
