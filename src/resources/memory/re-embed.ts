/**
 * Sees to it that all stored vectors are of one model: a start holds to it, and embedding everything again changes it.
 */
import { causesOf, errorCodeOf } from '../../platform/core/causes.ts';
import { ConfigError } from '../../platform/core/config.ts';
import { itemAt, last } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import {
  adoptKind,
  countNext,
  currentKind,
  indexNext,
  isNextIndexed,
  isSameKind,
  forget,
  listEmbedded,
  listWithoutNext,
  prepareNext,
  swapNext,
  writeLacking,
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
  /** Returns whether the model can read a text; any other one stays without a vector. */
  reads(text: string): boolean;
  /** @returns one vector for each text */
  embed(texts: readonly string[]): Promise<number[][]>;
  onProgress?: (progress: { done: number; total: number }) => void;
}

const BATCH = 32;

/**
 * Embeds every entry again and then goes over to the new vectors at once. What was done before it was broken off is not
 * done again. Of two at once both embed, one goes over, and the other finds that done. A process of the service
 * that still runs with the old model searches by words and writes no vectors until it is restarted.
 * @returns false when the stored vectors are of that model already
 */
export async function reEmbed(db: Database, embedding: ReEmbedding): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await reEmbedOnce(db, embedding);
    } catch (error) {
      if (!isOfAnother(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

const MAX_ATTEMPTS = 10;
/** Of Postgres: undefined column, object or table, duplicate index, unique violation in its catalogue, deadlock. */
const OF_ANOTHER = ['42703', '42704', '42P01', '42P07', '23505', '40P01'];
/** Another process re-embeds to the same model, and made, indexed or swapped the columns meanwhile. */
const isOfAnother = (error: unknown): boolean =>
  [...causesOf(error)].some((cause) => OF_ANOTHER.includes(errorCodeOf(cause) ?? ''));

/**
 * Gives a vector to entries that lack one, as what processes wrote that still had the model before, and takes those away
 * that are of texts which the model cannot read. To be called when the stored vectors are of this model.
 * @returns how many entries it changed
 */
export async function mendVectors(db: Database, { embed, reads, model }: ReEmbedding): Promise<number> {
  let changed = 0;
  for (let after = 0; ;) {
    const rows = await listEmbedded(db, { after, limit: BATCH });
    if (rows.length === 0) return changed;
    after = last(rows).id;
    changed += await forget(
      db,
      rows.filter(({ content, isEmbedded }) => isEmbedded && !reads(content)).map(({ id }) => id),
    );
    const lacking = rows.filter(({ content, isEmbedded }) => !isEmbedded && reads(content));
    if (lacking.length === 0) continue;
    const vectors = await embed(lacking.map(({ content }) => content));
    for (const [i, text] of lacking.entries())
      changed += await writeLacking(db, { ...text, embedding: { model, vector: itemAt(vectors, i) } });
  }
}

async function reEmbedOnce(
  db: Database,
  { embed, reads, onProgress = () => {}, ...kind }: ReEmbedding,
): Promise<boolean> {
  if (isSameKind(await currentKind(db), kind)) return false;
  await prepareNext(db, kind);
  do {
    const { total, ...counted } = await countNext(db);
    let { done } = counted;
    onProgress({ done, total });
    for (let after = 0; ;) {
      const texts = await listWithoutNext(db, { after, limit: BATCH });
      if (texts.length === 0) break;
      after = last(texts).id;
      const readable = texts.filter(({ content }) => reads(content));
      const vectors = await embed(readable.map(({ content }) => content));
      await writeNext(
        db,
        readable.map((text, i) => ({ ...text, vector: itemAt(vectors, i) })),
      );
      done += texts.length;
      onProgress({ done, total: Math.max(done, total) });
    }
    // The index is made when most vectors are there, which is much quicker than filling it one by one.
    if (!(await isNextIndexed(db))) await indexNext(db);
    // Entries that were written since still have to be embedded.
  } while (!(await swapNext(db, reads)));
  return true;
}
