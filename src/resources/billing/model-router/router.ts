/**
 * The managed model router makes a key for a workspace and limits what it may spend. With MODEL_ROUTER_URL it is one
 * that speaks OpenRouter's protocol for provisioning keys; otherwise the deployment's own models are the router, and a
 * key only says that the workspace may use them.
 */
import { z } from 'zod';
import { ConfigError, type Config } from '../../../platform/core/config.ts';
import { sha256 } from '../../../platform/core/crypto.ts';
import { newSecret } from '../../../platform/core/ids.ts';
import { parsedJson } from '../../../platform/core/json.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { withoutTrailingSlashes } from '../../../platform/core/text.ts';
import { bodyLimitIn, plainFetch } from '../../../platform/egress/limits.ts';
import { readText } from '../../../platform/egress/read-capped.ts';

interface RouterKey {
  key: string;
  /** The router knows the key by this name. */
  hash: string;
}

/** @throws Problem billing_provider_failed */
export interface ModelRouter {
  /** @param limitUsd a decimal string */
  mintKey(name: string, limitUsd: string): Promise<RouterKey>;
  setLimit(hash: string, limitUsd: string): Promise<void>;
  /** Revokes a key; one that is gone already is no failure. */
  revokeKey(hash: string): Promise<void>;
}

const Minted = z.object({ key: z.string().min(1), data: z.object({ hash: z.string().min(1) }) });

const localRouter: ModelRouter = {
  async mintKey() {
    const key = `mrk_${newSecret()}`;
    return { key, hash: sha256(key) };
  },
  async setLimit() {},
  async revokeKey() {},
};

/** @throws ConfigError when only half of it is set */
export function createModelRouter(
  settings: Pick<Config, 'MODEL_ROUTER_URL' | 'MODEL_ROUTER_PROVISIONING_KEY' | 'RESPONSE_MAX_MB' | 'RESPONSE_TIMEOUT'>,
): ModelRouter {
  const { MODEL_ROUTER_URL: url, MODEL_ROUTER_PROVISIONING_KEY: secret } = settings;
  if (!url && !secret) return localRouter;
  if (!url) throw new ConfigError('MODEL_ROUTER_URL: is not set; MODEL_ROUTER_PROVISIONING_KEY needs it');
  if (!secret) throw new ConfigError('MODEL_ROUTER_PROVISIONING_KEY: is not set; MODEL_ROUTER_URL needs it');
  const base = withoutTrailingSlashes(url);
  const fetch = plainFetch(settings);

  async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; reply: unknown }> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'error',
      });
      text = await readText(response);
    } catch (error) {
      const why = bodyLimitIn(error)?.message ?? 'the model router does not answer';
      throw new Problem('billing_provider_failed', `provider 0 router_unreachable: ${why}`);
    }
    const reply = parsedJson(text);
    if (response.ok || response.status === 404) return { status: response.status, reply };
    throw failed(response.status, messageIn(reply));
  }

  return {
    async mintKey(name, limitUsd) {
      const { status, reply } = await ask('POST', '/keys', { name, limit: Number(limitUsd) });
      const minted = Minted.safeParse(reply);
      if (!minted.success) throw failed(status, 'the model router made no key');
      return { key: minted.data.key, hash: minted.data.data.hash };
    },
    async setLimit(hash, limitUsd) {
      const { status, reply } = await ask('PATCH', `/keys/${encodeURIComponent(hash)}`, { limit: Number(limitUsd) });
      if (status === 404) throw failed(status, messageIn(reply));
    },
    async revokeKey(hash) {
      await ask('DELETE', `/keys/${encodeURIComponent(hash)}`);
    },
  };
}

const failed = (status: number, message: string): Problem =>
  new Problem('billing_provider_failed', `provider ${status} model_router: ${message}`);

function messageIn(reply: unknown): string {
  const { message } = (reply as { error?: { message?: unknown } } | null | undefined)?.error ?? {};
  return typeof message === 'string' ? message.slice(0, 200) : 'the model router refused';
}
