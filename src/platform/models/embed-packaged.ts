/**
 * A model whose weights come inside a package (Universal Sentence Encoder lite, English, 512 dimensions). It reads no more
 * than 128 tokens, so a longer text is embedded piece by piece and has the mean of their vectors.
 */
import { fileURLToPath } from 'node:url';
import { createTurns } from './turns-of-workspaces.ts';
import { ModelFailure, type EmbedOptions } from './types.ts';

export const PACKAGED = { model: 'universal-sentence-encoder-lite-en', dimensions: 512 };

/** A piece has so many characters, which are about 100 tokens of English. */
const PIECE = 400;
/** So many pieces of a text count; the rest is left out. */
const MAX_PIECES = 40;
/** One pass takes so many pieces of 30 to 100 ms each; between two passes of a long text others get their turn. */
const PASS = 4;
/** A text waits behind so many passes at most. Behind more it is refused: who asked has given up by then. */
const MAX_PASSES_AHEAD = 60;
/** The model is unloaded after this time: library and weights hold 100 MB, and take a second to load again. */
const IDLE_MS = 10 * 60_000;

/** Cuts at the end of a line, a sentence or a word, whichever there is; the model refuses a text without a token. */
function* piecesOf(text: string): Generator<string> {
  let rest = text.trim() || '.';
  for (let count = 0; rest !== '' && count < MAX_PIECES; count++) {
    const end = rest.length <= PIECE ? rest.length : endOfPiece(rest.slice(0, PIECE));
    yield rest.slice(0, end).trim() || '.';
    rest = rest.slice(end).trimStart();
  }
}

function endOfPiece(text: string): number {
  for (const boundary of ['\n', '. ', ' ']) {
    const at = text.lastIndexOf(boundary);
    if (at > PIECE / 2) return at + 1;
  }
  return text.length;
}

export const normalized = (vector: readonly number[]): number[] => {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
};

/** Averages vectors; a piece counts for as much as it is long. */
function mean(vectors: readonly number[][], weights: readonly number[]): number[] {
  const total = new Array<number>(PACKAGED.dimensions).fill(0);
  vectors.forEach((vector, i) => vector.forEach((value, at) => (total[at]! += value * weights[i]!)));
  return normalized(total);
}

async function makeThread() {
  const { Piscina } = await import('piscina');
  return new Piscina<string[], number[][]>({
    filename: fileURLToPath(new URL('./embed-thread.ts', import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    // Each text leaves much that is soon forgotten; a larger young heap would let 100 MB of it gather.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    // The thread needs no setting of the service.
    env: {},
    argv: [],
    execArgv: [],
  });
}

const tooBusy = () =>
  new ModelFailure(
    'model_unavailable',
    'The packaged embedding model is busy with long texts. Try again in some seconds, or set EMBEDDING_PROVIDER.',
    { retryable: true, retryAfterMs: 5_000 },
  );

/**
 * The model computes in a thread of its own: on the service's thread a few long texts at once would keep every request,
 * heartbeat and workflow task waiting for seconds. Passes are taken in turn by workspace, so that what one asks for makes
 * another one's text neither late nor refused. Loads nothing until the first text.
 */
export function createPackagedModel() {
  let making: ReturnType<typeof makeThread> | undefined;
  const turns = createTurns();

  async function embedInPasses(
    pieces: readonly string[],
    { signal, workspace = '' }: EmbedOptions,
  ): Promise<number[][]> {
    // The passes of this one text; whoever brings many texts has the time.
    const passes = Math.ceil(Math.min(pieces.length, MAX_PIECES) / PASS);
    const caller = turns.enter(workspace);
    try {
      if (passes * caller.before > MAX_PASSES_AHEAD) throw tooBusy();
      const thread = await (making ??= makeThread());
      const vectors: number[][] = [];
      for (let at = 0; at < pieces.length; at += PASS) {
        signal?.throwIfAborted();
        vectors.push(...(await caller.take(() => thread.run(pieces.slice(at, at + PASS)))));
      }
      return vectors;
    } finally {
      caller.leave();
    }
  }

  return {
    close: async () => (await making)?.destroy(),
    /** @returns one vector for each text @throws ModelFailure */
    async embed(given: readonly string[], options: EmbedOptions = {}): Promise<number[][]> {
      const texts = given.map((text) => [...piecesOf(text)]);
      const vectors = await embedInPasses(texts.flat(), options);
      let from = 0;
      return texts.map((pieces) => {
        const own = vectors.slice(from, (from += pieces.length)).map(normalized);
        return mean(
          own,
          pieces.map(({ length }) => length),
        );
      });
    },
  };
}
