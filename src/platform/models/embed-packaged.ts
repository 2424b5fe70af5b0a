/**
 * A model whose weights come inside a package (Universal Sentence Encoder lite, English, 512 dimensions). It reads no more
 * than 128 tokens, so a longer text is embedded piece by piece and has the mean of their vectors.
 */
import { fileURLToPath } from 'node:url';
import { createPasses } from './embed-in-passes.ts';

export const PACKAGED = { model: 'universal-sentence-encoder-lite-en', dimensions: 512 };

/** A piece has so many characters, which are about 100 tokens of English. */
const PIECE = 400;
/** One pass takes so many pieces of 30 to 100 ms each. */
const PASS = 4;
/** The model is unloaded after this time: library and weights hold 100 MB, and take a second to load again. */
const IDLE_MS = 10 * 60_000;

/**
 * Returns whether at least half of a text's letters are Latin. The vocabulary has a handful of letters of other scripts,
 * so nearly all of their words are the same unknown token, and all such texts have nearly the same vector.
 */
export function isReadable(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter));
  return latin.length * 2 >= letters.length;
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

/**
 * The model computes in a thread of its own: on the service's thread a few long texts at once would keep every request,
 * heartbeat and workflow task waiting for seconds. Loads nothing until the first text.
 */
export function createPackagedModel() {
  let making: ReturnType<typeof makeThread> | undefined;
  return {
    close: async () => (await making)?.destroy(),
    /** @returns one vector for each text @throws ModelFailure */
    embed: createPasses({
      piece: PIECE,
      pass: PASS,
      compute: async (pieces) => (await (making ??= makeThread())).run(pieces),
    }),
  };
}
