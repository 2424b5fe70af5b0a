/** Streams of text that are read line by line. */

/**
 * Rewrites each line of a text, which is given without its end. Lines are split, because a pattern that takes a whole line
 * runs out of stack with one of some megabytes.
 */
export const eachLine = (text: string, rewrite: (line: string) => string): string =>
  text
    .split(/([\r\n]+)/)
    .map((part, at) => (at % 2 === 0 && part !== '' ? rewrite(part) : part))
    .join('');

/** Rewrites a stream line by line; a line is given to `rewrite` without its end. */
export function byLine(
  rewrite: (line: string) => string,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(bytes, controller) {
      const text = rest + decoder.decode(bytes, { stream: true });
      const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
      rest = text.slice(end);
      if (end > 0) controller.enqueue(encoder.encode(eachLine(text.slice(0, end), rewrite)));
    },
    flush(controller) {
      controller.enqueue(encoder.encode(rewrite(rest + decoder.decode())));
    },
  });
}
