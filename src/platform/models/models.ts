/**
 * Language models as the product uses them: choose one, call it, price it, count and embed. Which provider serves is
 * decided by credentials alone; without any it is the offline model, which says so.
 */
import type { Config } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import type { GuardedFetch } from '../egress/egress.ts';
import { callOffline, callProvider, callSample } from './call.ts';
import { configuredProviders, credentialsBy, deploymentCredentials } from './catalogue.ts';
import { createEmbedder } from './embed.ts';
import { createOfflineModel } from './offline.ts';
import { createPrices } from './prices.ts';
import { createProviders } from './providers.ts';
import { replyLimits } from './reply-limits.ts';
import { resolveModel } from './resolve.ts';
import { countTokensOf } from './token-counts.ts';
import type { Models } from './types.ts';

export interface ModelsDeps {
  log: Log;
  /**
   * Calls of model servers that a workspace names go through this; without it they are refused. The operator's own
   * server may be private.
   */
  guardedFetch?: GuardedFetch;
}

/** @throws Error when MODEL_PRICES names a file that cannot be used */
export function createModels(config: Config, { log, guardedFetch }: ModelsDeps): Models {
  const ofDeployment = deploymentCredentials(config);
  const providerModel = createProviders(config, guardedFetch);
  const offline = createOfflineModel(countTokensOf);
  const embedder = createEmbedder(config, ofDeployment);
  let price = createPrices(config.MODEL_PRICES);

  // The SDK prints to the console what a model does not support; here it is a line of the log like any other.
  globalThis.AI_SDK_LOG_WARNINGS = ({ warnings, provider, model }) =>
    log.debug({ warnings, provider, model }, 'model warnings');
  const providers = configuredProviders(ofDeployment);
  if (providers.length > 0) log.info({ providers }, 'model providers configured');
  else
    log.info(
      { model: 'offline' },
      'no model provider is configured: runs use the offline model unless their workspace has a credential',
    );

  return {
    resolve: resolveModel,
    async call(call) {
      if (call.resolved.provider === 'offline') return callOffline(call, offline);
      if (call.resolved.provider === 'sample') return callSample(call);
      return callProvider(call, await providerModel(call.resolved, call.credentials, replyLimits(call, config)));
    },
    price: (resolved, usage, terms) => price(resolved, usage, terms),
    reloadPrices() {
      price = createPrices(config.MODEL_PRICES);
    },
    countTokens: countTokensOf,
    credentials: (own = {}) => ({
      ...credentialsBy((name) => own[name] || ofDeployment[name]),
      own: configuredProviders(own),
    }),
    embedding: { model: embedder.model, dimensions: embedder.dimensions },
    embed: embedder.embed,
    close: embedder.close,
  };
}
