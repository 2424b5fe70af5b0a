/**
 * A service whose model has a price that is easy to reckon with: input costs nothing, and each token of output one cent, of
 * which a reply may have a hundred. So at most a dollar is held for a call.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../../src/platform/core/log.ts';
import { startOpenAiServer, type OpenAiServer } from '../fakes/openai-server.ts';
import { startTestService, type TestService } from './service.ts';

/** What a call costs: the replies of the model's server report three tokens of output. */
export const CALL_COST = '0.03';

export interface PricedService {
  service: TestService;
  /** Of the model. */
  provider: OpenAiServer;
  close(): Promise<void>;
}

/** @param env further settings of the service */
export async function startPricedService(env: Record<string, string> = {}, log?: Log): Promise<PricedService> {
  const provider = await startOpenAiServer();
  const folder = await mkdtemp(join(tmpdir(), 'aos-prices-'));
  const prices = join(folder, 'prices.json');
  await writeFile(prices, JSON.stringify({ scripted: { input_usd_per_mtok: 0, output_usd_per_mtok: 10_000 } }));
  const service = await startTestService({
    ...(log && { log }),
    env: {
      MODEL_PRICES: prices,
      MODEL_MAX_OUTPUT_TOKENS: '100',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      ...env,
    },
  });
  return {
    service,
    provider,
    async close() {
      await service.close();
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
