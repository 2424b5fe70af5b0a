/** Tells a mail by its beginning. Pure. */

const LOOKED_AT = 64 * 1024;
/** Every mail says these. */
const TELLING = [/^from:/im, /^(?:date|message-id|mime-version|received):/im];

/** A mail begins with lines of a header, in which who wrote it is never missing. */
export function isMail(bytes: Uint8Array): boolean {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, LOOKED_AT)).toString('latin1');
  const [header = ''] = beginning.split(/\r?\n\r?\n/, 1);
  const isHeader = header.split(/\r?\n/).every((line) => /^(?:[\w-]{1,76}:|[ \t])/.test(line));
  return isHeader && TELLING.every((pattern) => pattern.test(header));
}
