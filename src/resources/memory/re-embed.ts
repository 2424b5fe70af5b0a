/**
 * Sees to it that all stored vectors are of one model: a start holds to it, and embedding everything again changes it.
 */
import { ConfigError } from '../../platform/core/config.ts';
import { itemAt, last } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import {
  adoptKind,
  countNext,
  currentKind,
  indexNext,
  isSameKind,
  listWithoutNext,
  prepareNext,
  swapNext,
  writeNext,
  type VectorKind,
} from './store/vectors.ts';

/**
 * It is called before anything is embedded or searched. A database without vectors takes those of the model that is
 * configured.
 * @throws ConfigError where the stored ones are of another model
 */
export async function requireVectorsOf(db: Database, configured: VectorKind): Promise<void> {
  if (isSameKind(await currentKind(db), configured) || (await adoptKind(db, configured))) return;
  const stored = await currentKind(db);
  if (isSameKind(stored, configured)) return;
  throw new ConfigError(
    `EMBEDDING_PROVIDER: the stored memories were embedded with ${nameOf(stored)}, the settings say ${nameOf(configured)}; run \`aos memory re-embed\` with these settings to change over, or set them back`,
  );
}

const nameOf = ({ model, dimensions }: VectorKind): string => `${model} (${dimensions} numbers)`;

export interface ReEmbedding extends VectorKind {
  /** @returns one vector for each text */
  embed(texts: readonly string[]): Promise<number[][]>;
  onProgress?: (progress: { done: number; total: number }) => void;
}

const BATCH = 64;

/**
 * Embeds every entry again and then goes over to the new vectors at once. What was done before it was broken off is not
 * done again. A process of the service that still runs with the old model must be restarted afterwards.
 * @returns false when the stored vectors are of that model already
 */
export async function reEmbed(db: Database, { embed, onProgress = () => {}, ...kind }: ReEmbedding): Promise<boolean> {
  if (isSameKind(await currentKind(db), kind)) return false;
  await prepareNext(db, kind);
  let isIndexed = false;
  do {
    const { total, ...counted } = await countNext(db);
    let { done } = counted;
    onProgress({ done, total });
    for (let after = 0; ;) {
      const texts = await listWithoutNext(db, { after, limit: BATCH });
      if (texts.length === 0) break;
      after = last(texts).id;
      const vectors = await embed(texts.map(({ content }) => content));
      await writeNext(
        db,
        texts.map((text, i) => ({ ...text, vector: itemAt(vectors, i) })),
      );
      done += texts.length;
      onProgress({ done, total: Math.max(done, total) });
    }
    // The index is made when most vectors are there, which is much quicker than filling it one by one.
    if (!isIndexed) await indexNext(db);
    isIndexed = true;
    // Entries that were written since still have to be embedded.
  } while (!(await swapNext(db)));
  return true;
}
