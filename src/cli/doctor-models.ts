/** Asks each model server that is configured which models it has, for `aos doctor`. That costs nothing. */
import { z } from 'zod';
import { rootInWords } from '../platform/core/causes.ts';
import type { Config } from '../platform/core/config.ts';
import { withoutTrailingSlashes } from '../platform/core/text.ts';
import { plainFetch } from '../platform/egress/limits.ts';
import { failed, ok, warning, type CheckResult } from './findings.ts';
import { shorten } from './output.ts';

interface ModelServer {
  /** The setting to correct, and the one with the key. */
  address: keyof Config;
  key: keyof Config;
  base: string;
  headers: Record<string, string>;
  /** The model that agents use there, where a setting names it. */
  model?: string;
}

const bearer = (key: string | undefined): Record<string, string> => (key ? { authorization: `Bearer ${key}` } : {});

function serversOf(config: Config): ModelServer[] {
  const servers: ModelServer[] = [];
  if (config.ANTHROPIC_API_KEY) {
    servers.push({
      address: 'ANTHROPIC_BASE_URL',
      key: 'ANTHROPIC_API_KEY',
      base: config.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com/v1',
      headers: { 'x-api-key': config.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01' },
    });
  }
  if (config.OPENAI_API_KEY) {
    servers.push({
      address: 'OPENAI_BASE_URL',
      key: 'OPENAI_API_KEY',
      base: config.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
      headers: bearer(config.OPENAI_API_KEY),
    });
  }
  if (config.OPENAI_COMPATIBLE_BASE_URL) {
    servers.push({
      address: 'OPENAI_COMPATIBLE_BASE_URL',
      key: 'OPENAI_COMPATIBLE_API_KEY',
      base: config.OPENAI_COMPATIBLE_BASE_URL,
      headers: bearer(config.OPENAI_COMPATIBLE_API_KEY),
      model: config.OPENAI_COMPATIBLE_MODEL,
    });
  }
  return servers;
}

export const examineModelServers = (config: Config): Promise<CheckResult[]> =>
  Promise.all(serversOf(config).map((server) => ask(server, plainFetch(config))));

const CHECK = 'model server';
const ModelList = z.object({ data: z.array(z.object({ id: z.string() })) });

async function ask(server: ModelServer, fetch: ReturnType<typeof plainFetch>): Promise<CheckResult> {
  const { address, key, headers } = server;
  const base = withoutTrailingSlashes(server.base);
  try {
    const response = await fetch(`${base}/models`, { headers });
    if (response.status === 401 || response.status === 403) {
      return failed(CHECK, `${base} refuses the key (${response.status})`, `correct ${key}`);
    }
    const models = ModelList.safeParse(await response.json().catch(() => undefined));
    if (response.ok && models.success) return ofList(server, base, models.data.data);
    const said = `${base}/models answers ${response.status}, and no list of models`;
    return warning(CHECK, said, `is the path of ${address} right? It ends in the version, mostly /v1`);
  } catch (error) {
    return failed(CHECK, `${base} does not answer (${rootInWords(error)})`, `start it, or correct ${address}`);
  }
}

const SHOWN = 200;

function ofList({ model }: ModelServer, base: string, models: { id: string }[]): CheckResult {
  const ids = models.map(({ id }) => id);
  if (model === undefined || ids.includes(model))
    return ok(CHECK, `${base} answers${model ? ` and has ${model}` : ''}`);
  return warning(
    CHECK,
    `${base} does not name ${model} among its models`,
    `set OPENAI_COMPATIBLE_MODEL to one of ${shorten(ids.join(', '), SHOWN) || 'its models (it names none)'}`,
  );
}
