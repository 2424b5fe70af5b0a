/**
 * Shares a model that computes on this machine: it makes a pass at a time, over a few pieces of text. Passes are taken in
 * turn by workspace, so that what one asks for makes another one's text neither late nor refused.
 */
import { embedInPieces, MAX_CHARACTERS } from './long-texts.ts';
import { createTurns } from './turns-of-workspaces.ts';
import { ModelFailure, type EmbedOptions } from './types.ts';

interface LocalModel {
  /** Characters of a piece, of which the model reads all. */
  piece: number;
  /** Pieces of one pass; between two passes of a long text others get their turn. */
  pass: number;
  compute(pieces: string[], options: EmbedOptions): Promise<number[][]>;
}

/** A text waits behind so many passes at most. Behind more it is refused: who asked has given up by then. */
const MAX_PASSES_AHEAD = 60;

const tooBusy = () =>
  new ModelFailure(
    'model_unavailable',
    'The embedding model of this machine is busy with long texts. Try again in some seconds, or set EMBEDDING_PROVIDER.',
    { retryable: true, retryAfterMs: 5_000 },
  );

/** @returns what makes one vector of unit length for each text @throws ModelFailure where the model is busy */
export function createPasses({ piece, pass, compute }: LocalModel) {
  const turns = createTurns();
  const maxPieces = Math.ceil(MAX_CHARACTERS / piece);

  return (texts: readonly string[], options: EmbedOptions = {}): Promise<number[][]> =>
    embedInPieces(texts, piece, async (pieces) => {
      const { signal, workspace = '' } = options;
      // The passes of this one text; whoever brings many texts has the time.
      const passes = Math.ceil(Math.min(pieces.length, maxPieces) / pass);
      const caller = turns.enter(workspace);
      try {
        if (passes * caller.before > MAX_PASSES_AHEAD) throw tooBusy();
        const vectors: number[][] = [];
        for (let at = 0; at < pieces.length; at += pass) {
          signal?.throwIfAborted();
          vectors.push(...(await caller.take(() => compute(pieces.slice(at, at + pass), options))));
        }
        return vectors;
      } finally {
        caller.leave();
      }
    });
}
