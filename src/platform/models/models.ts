/**
 * Language models as the product uses them: choose one, call it, price it, count and embed. Which provider serves is
 * decided by credentials alone; without any it is the offline model, which says so.
 */
import type { Config } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import type { GuardedFetch } from '../egress/egress.ts';
import { callOffline, callProvider, callSample } from './call.ts';
import { createCircuits } from './circuits.ts';
import { configuredProviders, described, credentialsBy, deploymentCredentials } from './catalogue.ts';
import { createEmbedder } from './embed.ts';
import { inJsonMode } from './json-modes.ts';
import { createOfflineModel } from './offline.ts';
import { readCatalogue } from './known-models.ts';
import { DEFAULT_OUTPUT, LEAST_OUTPUT, smallestLimit, type OutputLimit } from './output-limit.ts';
import { createPrices } from './prices.ts';
import { createProviders } from './providers.ts';
import { replyLimits } from './reply-limits.ts';
import { resolveModel } from './resolve.ts';
import type { Warnings } from './sdk.ts';
import { countTokensOf } from './token-counts.ts';
import { isWithoutProvider, type Models, type ResolvedModel } from './types.ts';

/** What a model does not support of what it was asked. */
const MODEL_WARNINGS = 'model warnings';

export interface ModelsDeps {
  log: Log;
  /**
   * Calls of model servers that a workspace names go through this; without it they are refused. The operator's own
   * server may be private.
   */
  guardedFetch?: GuardedFetch;
}

/** @throws ConfigError when MODEL_CATALOGUE or MODEL_PRICES names a file that cannot be used */
export function createModels(config: Config, { log, guardedFetch }: ModelsDeps): Models {
  const ofDeployment = deploymentCredentials(config);
  const providerModel = createProviders(config, guardedFetch);
  const offline = createOfflineModel(countTokensOf);
  const embedder = createEmbedder(config, ofDeployment, log);
  // It is installed and started beside the rest; what fails is a line of the log, and is tried again.
  embedder.start?.().catch(() => {});
  let catalogue = readCatalogue(config);

  // The SDK prints to the console what a model does not support; here it is a line of the log like any other.
  globalThis.AI_SDK_LOG_WARNINGS = ({ warnings, provider, model }) =>
    log.debug({ warnings, provider, model }, MODEL_WARNINGS);
  const providers = configuredProviders(ofDeployment);
  if (providers.length > 0) log.info({ providers }, 'model providers configured');
  else
    log.info(
      { model: 'offline' },
      'no model provider is configured: runs use the offline model unless their workspace has a credential',
    );

  const circuits = createCircuits(log);
  const outputOf = ({ model, provider, contextWindow }: Pick<ResolvedModel, 'model' | 'provider' | 'contextWindow'>) =>
    isWithoutProvider(provider)
      ? { maxOutput: contextWindow, isOutputUnknown: true as const }
      : described(model, provider, catalogue);

  const outputLimit: Models['outputLimit'] = (resolved, { ofAgent, inputTokens }) => {
    const { maxOutput, isOutputUnknown = false } = outputOf(resolved);
    const ofSetting = config.MODEL_MAX_OUTPUT_TOKENS;
    const limits: OutputLimit[] = [
      ...(ofAgent === null ? [] : [{ by: 'agent' as const, tokens: ofAgent }]),
      ...(ofSetting === undefined ? [] : [{ by: 'setting' as const, tokens: ofSetting }]),
    ];
    if (isOutputUnknown && limits.length === 0) limits.push({ by: 'default', tokens: DEFAULT_OUTPUT });
    // The count is ours, and a prompt that is too long is the provider's to refuse.
    const room = Math.max(resolved.contextWindow - inputTokens, LEAST_OUTPUT);
    return smallestLimit({ by: 'model', tokens: maxOutput }, ...limits, { by: 'window', tokens: room });
  };

  return {
    catalogue: () => catalogue,
    outputLimit,
    efforts: ({ model, provider }) =>
      isWithoutProvider(provider) ? undefined : described(model, provider, catalogue).efforts,
    resolve: (request, credentials) => resolveModel(request, credentials, catalogue),
    async call(asked) {
      const call = { ...asked, maxOutputTokens: Math.min(asked.maxOutputTokens, outputOf(asked.resolved).maxOutput) };
      if (call.resolved.provider === 'offline') return callOffline(call, offline);
      if (call.resolved.provider === 'sample') return callSample(call);
      const limits = replyLimits(call, config);
      const { provider, model } = call.resolved;
      const warn = (warnings: Warnings) => log.debug({ warnings, provider, model }, MODEL_WARNINGS);
      return circuits.watch(call.resolved, call.credentials, () =>
        inJsonMode(call, (mode) =>
          callProvider(call, {
            modelOf: (hear) => providerModel(call.resolved, call.credentials, { ...limits, mode, hear }),
            mode,
            warn,
          }),
        ),
      );
    },
    isOut: circuits.isOut,
    providersOut: () => providers.filter((provider) => circuits.looksOut({ provider }, ofDeployment)),
    price: (resolved, usage, terms) => createPrices(catalogue)(resolved, usage, terms),
    reload() {
      catalogue = readCatalogue(config);
    },
    countTokens: countTokensOf,
    credentials: (own = {}) => ({
      ...credentialsBy((name) => own[name] || ofDeployment[name]),
      own: configuredProviders(own),
    }),
    embedding: embedder,
    embed: embedder.embed,
    close: embedder.close,
  };
}
