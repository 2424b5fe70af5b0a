/**
 * Servers without a parser for reasoning leave it in the text, between `<think>` and `</think>` before the answer. It is no
 * part of the answer, and nobody is shown it as one.
 */
const [OPEN, CLOSE] = ['<think>', '</think>'];

/** @returns what is of the answer in a text that is whole; of some servers the template leaves the beginning out */
export function answerIn(text: string): string {
  const end = text.indexOf(CLOSE);
  const isBegun = text.trimStart().startsWith(OPEN);
  if (!isBegun && (end === -1 || text.includes(OPEN))) return text;
  return end === -1 ? '' : text.slice(end + CLOSE.length).trimStart();
}

/** @returns a function that gives what is of the answer in a text that comes in pieces, but for what may still begin one */
export function createThinkFilter(): (piece: string) => string {
  let held = '';
  let state: 'undecided' | 'thinking' | 'before the answer' | 'answering' = 'undecided';

  return (piece) => {
    if (state === 'answering') return piece;
    held += piece;
    if (state === 'undecided') {
      const begun = held.trimStart();
      if (begun.length < OPEN.length && OPEN.startsWith(begun)) return '';
      state = begun.startsWith(OPEN) ? 'thinking' : 'answering';
      if (state === 'answering') return held;
    }
    if (state === 'thinking') {
      const end = held.indexOf(CLOSE);
      if (end === -1) {
        // Its beginning may be all that there is yet.
        held = held.slice(1 - CLOSE.length);
        return '';
      }
      held = held.slice(end + CLOSE.length);
      state = 'before the answer';
    }
    held = held.trimStart();
    if (held !== '') state = 'answering';
    return held;
  };
}
