/** Makes the vector that is stored with a text. */
import { first } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import { ModelFailure, type Models } from './types.ts';

/**
 * It takes tens of milliseconds, or as long as a provider does, and is never called inside a transaction.
 * @throws Problem embedding_failed
 */
export async function embedText(models: Pick<Models, 'embed'>, text: string, workspace: string): Promise<number[]> {
  try {
    return first(await models.embed([text], { workspace }));
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    throw new Problem('embedding_failed', `embedding_failed: ${error.message}`);
  }
}
