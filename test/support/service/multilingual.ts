/** The multilingual model as the service runs it, installed into `.cache` once. */
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createEmbedder, type Embedder } from '../../../src/platform/models/embed.ts';
import { TEST_SECRETS } from './service.ts';

const MULTILINGUAL_HOME = fileURLToPath(new URL('../../../.cache/multilingual', import.meta.url));

/** @param say is told what the log would be told @returns the model, which is to be closed */
export async function startMultilingual(say: (...given: unknown[]) => void = () => {}): Promise<Embedder> {
  const settings = { DATABASE_URL: 'postgres://none', EMBEDDING_PROVIDER: 'multilingual', DATA_DIR: MULTILINGUAL_HOME };
  const embedder = createEmbedder(
    loadConfig({ ...TEST_SECRETS, ...settings }),
    {},
    { info: say, warn: say, error: say },
  );
  await embedder.start?.();
  return embedder;
}
