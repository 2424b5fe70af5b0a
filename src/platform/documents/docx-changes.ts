/** Keeps what was changed in a paragraph of a Word document, by whom, until it is said. */
import { shortened } from './docx-comments.ts';

export type ChangeKind = 'inserted' | 'deleted' | 'moved away' | 'moved here';

interface Change {
  kind: ChangeKind;
  who: string;
  text: string;
}

export function createChanges() {
  /** Those that are open: what was inserted may have been deleted again. */
  const open: Change[] = [];
  let done: Change[] = [];
  return {
    begin: (kind: ChangeKind, who: string): void => void open.push({ kind, who, text: '' }),
    end(): void {
      const change = open.pop();
      if (!change || change.text.trim() === '') return;
      const last = done.at(-1);
      if (last && last.kind === change.kind && last.who === change.who) last.text += change.text;
      else done.push(change);
    },
    /** @returns whether it is there once everything is accepted */
    say(text: string): boolean {
      const gone = open.find(({ kind }) => kind === 'deleted' || kind === 'moved away');
      const change = gone ?? open.at(-1);
      if (change) change.text += text;
      return gone === undefined;
    },
    /** @returns a line for each who changed something, in its order, and forgets them */
    all(): string[] {
      const lines: { who: string; what: string[] }[] = [];
      for (const { kind, who, text } of done) {
        // What was inserted is in the text already.
        const words = kind === 'deleted' || kind === 'moved away' ? text.trim() : shortened(text.trim());
        const what = `${kind} "${words.replaceAll(/\s+/g, ' ')}"`;
        const last = lines.at(-1);
        if (last?.who === who) last.what.push(what);
        else lines.push({ who, what: [what] });
      }
      done = [];
      return lines.map(({ who, what }) => `[tracked changes${who && ` by ${who}`}] ${what.join(', ')}`);
    },
  };
}
