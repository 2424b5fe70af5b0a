/** In the place of the model that makes vectors, for tests that store many long texts and search for none of them. */
import type { TestService } from './service.ts';

/** The packaged model takes a second of a thread of its own for a long text. */
export function standInForEmbeddings({ services: { models } }: TestService): void {
  const vector = Array.from({ length: models.embedding.dimensions }, (_, i) => (i === 0 ? 1 : 0));
  models.embed = async (texts) => texts.map(() => vector);
}
