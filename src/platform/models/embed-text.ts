/** Makes the vectors that are stored with a text and compared with a question. */
import { first } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import { ModelFailure, type Embedding, type Models } from './types.ts';

/**
 * It takes tens of milliseconds, or as long as a provider does, and is never called inside a transaction.
 * @returns null for a text that the model cannot read
 * @throws Problem embedding_failed
 */
export const embedText = async (
  models: Pick<Models, 'embed' | 'embedding'>,
  text: string,
  workspace: string,
): Promise<Embedding | null> =>
  models.embedding.reads(text)
    ? { model: models.embedding.model, vector: first(await orProblem(models.embed([text], { workspace }))) }
    : null;

/** @returns the vector of a question that the model reads @throws ModelFailure */
export const embedQuestion = async (
  models: Pick<Models, 'embed' | 'embedding'>,
  text: string,
  workspace: string,
  signal?: AbortSignal,
): Promise<Embedding> => ({
  model: models.embedding.model,
  vector: first(await models.embed([text], { workspace, signal, isQuestion: true })),
});

/** @throws Problem embedding_failed in place of a ModelFailure */
export async function orProblem<T>(embedding: Promise<T>): Promise<T> {
  try {
    return await embedding;
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    throw new Problem('embedding_failed', `embedding_failed: ${error.message}`);
  }
}
