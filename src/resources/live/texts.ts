/**
 * Hands out what models are writing to the streams of this process that ask for it. It tells the workers, by rows that it
 * renews, which runs are watched; with each round of the hub it reads what has changed, in one statement for all streams.
 * Where nobody asks for texts it does nothing, and the workers write none down.
 */
import { RENEW_MS, watchesOf } from '../run-texts/model.ts';
import type { RunText, RunTextStore } from '../run-texts/store.ts';

/** The new part of a text. It continues at `offset` what was sent before; at 0 the text begins, or begins anew. */
export interface TextPiece extends RunText {
  /** How many UTF-16 units come before it. */
  offset: number;
}

export interface TextListener {
  customerId: string;
  /** What it watches, in the words of `watchOf`. */
  watched: string;
  hear(piece: TextPiece): void;
}

interface Known extends RunText {
  changedAt: number;
  /** Is true once the turn is recorded, because from then on its event has the text. */
  isOver: boolean;
}

/** A text that has not changed for this long is forgotten, because nobody is writing it any more. */
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
    /** Adds a listener. It is sent at once what has been written so far. */
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

    /** Notes that the turn of this run is recorded, so that its text is sent to nobody who comes later. */
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
