/** The embedded service beside a real model, and what both say of the same work. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, type Client } from '../../client/src/index.ts';
import type { LlamaServer } from '../support/llama/llama.ts';
import type { ServedCall } from '../support/llama/llama-server.ts';
import { call, type Answer } from '../support/service/service.ts';
import { createEmbeddedService, plainDisk, type EmbeddedService, type ServiceDisk } from './embedded-service.ts';

/** US dollars for a million tokens, as the service is told them. */
export const PRICE = { input: 1, output: 2 };

export interface ModelRig {
  aos: Client;
  /** The control plane, as the owner of the workspace. */
  cp(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The calls of the model that came while this was done. One thing is done at a time. */
  calls<T>(work: () => Promise<T>): Promise<{ made: T; calls: ServedCall[] }>;
  /** The first look at the last call for which this holds. @throws Error after that many milliseconds */
  untilCall(isIt: (call: ServedCall) => boolean, withinMs: number): Promise<ServedCall>;
  service: EmbeddedService<ServiceDisk>;
}

export async function startModelRig(llama: LlamaServer, settings: Record<string, string> = {}): Promise<ModelRig> {
  const service = await createEmbeddedService(
    plainDisk,
    {
      OPENAI_COMPATIBLE_BASE_URL: llama.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'smollm2',
      OPENAI_COMPATIBLE_PRICE: `${PRICE.input},${PRICE.output}`,
      // One thread of a busy machine reads a long prompt for minutes.
      MODEL_TIMEOUT: '15m',
      // A model of this size may not find its end.
      MODEL_MAX_OUTPUT_TOKENS: '2000',
      ...settings,
    },
    async () => {},
  );
  if (!(await service.start())) throw new Error(`the service does not start: ${await service.lastWords()}`);
  const { url } = service.replica;
  const credentials = JSON.parse(await readFile(join(service.disk.inside, 'credentials.json'), 'utf8'));
  const session: string = credentials.session_cookie;
  return {
    service,
    aos: createClient({ baseUrl: url, apiKey: credentials.api_key, session }),
    cp: (method, path, body) => call(`${url}/api/v1/cp${path}`, method, { cookie: `service_session=${session}` }, body),
    async calls(work) {
      const before = (await llama.calls()).length;
      const made = await work();
      return { made, calls: (await llama.calls()).slice(before) };
    },
    async untilCall(isIt, withinMs) {
      for (const from = performance.now(); ; await wait(100)) {
        const last = (await llama.calls()).at(-1);
        if (last && isIt(last)) return last;
        if (performance.now() - from > withinMs) {
          throw new Error(`after ${withinMs} ms the last call is ${JSON.stringify(last)?.slice(-300)}`);
        }
      }
    },
  };
}
