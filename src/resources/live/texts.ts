/**
 * Texts while they are written, for all streams of this process that want them: it says what is watched, reads with each
 * round of the hub what has changed, in one statement, and hands out what is new of it. Nobody who wants none pays for it.
 */
import { RENEW_MS, watchesOf } from '../run-texts/model.ts';
import type { RunText, RunTextStore } from '../run-texts/store.ts';

/** What is new of a text: it goes on at `offset` with what was there, or begins anew at 0. */
export interface TextPiece extends RunText {
  /** UTF-16 units before it. */
  offset: number;
}

export interface TextListener {
  customerId: string;
  /** As `watchOf` says it. */
  watched: string;
  hear(piece: TextPiece): void;
}

interface Known extends RunText {
  changedAt: number;
  /** The turn is recorded: there is nothing to read along any more. */
  isOver: boolean;
}

/** A text that has not changed for so long is none that is being written. */
const STALE_MS = 60_000;

export type Texts = ReturnType<typeof createTexts>;

export function createTexts(store: Pick<RunTextStore, 'renewWatches' | 'readChanged'>, now = Date.now) {
  const listeners = new Set<TextListener>();
  const known = new Map<string, Known>();
  let renewedAt = 0;

  async function renewAll(): Promise<void> {
    renewedAt = now();
    const keys = new Map(
      [...listeners].map(({ customerId, watched }) => [`${customerId} ${watched}`, { customerId, watched }]),
    );
    await store.renewWatches([...keys.values()]);
  }
  const isFor = (text: RunText) => (listener: TextListener) =>
    listener.customerId === text.customerId && watchesOf(text).includes(listener.watched);

  return {
    /** What is written of it already is heard at once. */
    async watch(listener: TextListener): Promise<void> {
      const isNew = ![...listeners].some(
        ({ customerId, watched }) => customerId === listener.customerId && watched === listener.watched,
      );
      listeners.add(listener);
      for (const text of known.values())
        if (!text.isOver && isFor(text)(listener)) listener.hear({ ...text, offset: 0 });
      if (isNew) await store.renewWatches([{ customerId: listener.customerId, watched: listener.watched }]);
    },

    leave: (listener: TextListener): void => void listeners.delete(listener),

    /** The turn that it was writing is recorded. */
    isRecorded(runId: string): void {
      const text = known.get(runId);
      if (text) text.isOver = true;
    },

    async round(): Promise<void> {
      if (listeners.size === 0) return known.clear();
      if (now() - renewedAt > RENEW_MS) await renewAll();
      const customers = [...new Set([...listeners].map(({ customerId }) => customerId))];
      const having = [...known.values()].map(({ runId, turn, attempt, text }) => ({
        runId,
        turn,
        attempt,
        length: text.length,
      }));
      for (const text of await store.readChanged(customers, having)) {
        const before = known.get(text.runId);
        const goesOn =
          before?.turn === text.turn && before.attempt === text.attempt && text.text.startsWith(before.text);
        const offset = goesOn ? before.text.length : 0;
        known.set(text.runId, { ...text, changedAt: now(), isOver: false });
        const piece = { ...text, offset, text: text.text.slice(offset) };
        for (const listener of listeners) if (isFor(text)(listener)) listener.hear(piece);
      }
      for (const [runId, { changedAt }] of known) if (now() - changedAt > STALE_MS) known.delete(runId);
    },
  };
}
