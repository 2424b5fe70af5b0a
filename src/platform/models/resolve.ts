/**
 * Which model a run uses, and by which rule. Pure: the same request and credentials give the same answer, so an operator
 * can tell from the rule in the run's `model_resolved` event why a model was chosen.
 *
 * In order: an enforced agent model; the request's override; `auto`, by the prompt; the agent's default. A model that
 * somebody named is used or refused; the one that a built-in agent came with may be replaced, and the rule says so. Without
 * any provider everything is the offline model.
 */
import { first } from '../core/present.ts';
import { configuredProviders, describeModel, modelOfTier, PROVIDERS } from './catalogue.ts';
import {
  ModelFailure,
  type Catalogue,
  type KnownModel,
  type ModelCredentials,
  type ModelRequest,
  type ProviderTier,
  type ResolvedModel,
} from './types.ts';

export const OFFLINE = { id: 'offline', provider: 'offline', tier: 'offline', contextWindow: 128_000 } as const;

/** Counted in characters: below the first a prompt is a question, from the second on it is a document. */
const SHORT_PROMPT = 240;
const LONG_PROMPT = 6_000;

/** A request for reasoning asks for depth whatever its length; otherwise the length of the prompt decides. */
function tierOfPrompt({ prompt, reasoning }: ModelRequest): { tier: ProviderTier; rule: string } {
  if (reasoning) return { tier: 'deep', rule: 'auto_reasoning' };
  if (prompt.length >= LONG_PROMPT) return { tier: 'deep', rule: 'auto_long_prompt' };
  if (prompt.length < SHORT_PROMPT) return { tier: 'fast', rule: 'auto_short_prompt' };
  return { tier: 'standard', rule: 'auto_standard' };
}

const notConfigured = ({ id, provider }: KnownModel): ModelFailure => {
  const { label, phrase = label, setting } = PROVIDERS[provider];
  return new ModelFailure(
    'model_not_configured',
    `Model ${id} needs ${phrase}, which is not configured. Set ${setting}, add the workspace's own credential, or choose another model.`,
  );
};

/**
 * Switches a run to its recorded sample. A configured provider wins: only the offline fallback is replaced, so that a
 * recording is never taken for the answer of a model that somebody pays for.
 */
export const preferSample = (resolved: ResolvedModel, hasSample: boolean): ResolvedModel =>
  hasSample && resolved.provider === 'offline' && resolved.rule === 'offline'
    ? { ...resolved, provider: 'sample', rule: 'sample' }
    : resolved;

/** @throws ModelFailure model_not_configured when a model that somebody named has no configured provider */
export function resolveModel(
  request: ModelRequest,
  credentials: ModelCredentials,
  catalogue: Catalogue,
): ResolvedModel {
  const providers = configuredProviders(credentials);
  const enforce = request.enforce === true;
  const override = enforce ? undefined : request.override || undefined;

  const choose = ({ id, provider, tier, contextWindow }: KnownModel | typeof OFFLINE, rule: string): ResolvedModel => ({
    model: id,
    provider,
    tier,
    contextWindow,
    rule,
    enforce,
    reasoning: request.reasoning === true,
  });
  const isConfigured = ({ provider }: KnownModel) => providers.includes(provider);
  const auto = () => {
    const { tier, rule } = tierOfPrompt(request);
    return choose(modelOfTier(tier, first(providers), credentials, catalogue), rule);
  };
  const insist = (id: string, rule: string) => {
    if (id === OFFLINE.id) return choose(OFFLINE, rule);
    const model = describeModel(id, credentials, catalogue);
    if (!isConfigured(model)) throw notConfigured(model);
    return choose(model, rule);
  };

  if (override === OFFLINE.id) return choose(OFFLINE, 'override');
  if (providers.length === 0) return choose(OFFLINE, 'offline');

  const agentModel = request.defaultModel || request.model;
  if (enforce && agentModel !== 'auto') return insist(agentModel, 'agent_enforced');
  if (override && override !== 'auto') return insist(override, 'override');
  // For an agent that enforces no model of its own, one is chosen as for any other.
  const isAuto = [override, request.model, agentModel].includes('auto') || request.selectionMode === 'auto';
  if (isAuto) return auto();

  if (agentModel === OFFLINE.id) return choose(OFFLINE, 'agent_default');
  const model = describeModel(agentModel, credentials, catalogue);
  if (isConfigured(model)) return choose(model, 'agent_default');
  if (!request.isBuiltin) throw notConfigured(model);
  return choose(modelOfTier(model.tier, first(providers), credentials, catalogue), 'agent_default_fallback');
}

/** @returns why a run of this agent does not use the model that the agent names, and what it does instead */
export function unusedModel(
  request: Omit<ModelRequest, 'prompt'>,
  credentials: ModelCredentials,
  catalogue: Catalogue,
): string | undefined {
  const named = (!request.enforce && request.override) || request.defaultModel || request.model;
  if (named === 'auto' || request.selectionMode === 'auto') return undefined;
  try {
    const { model, rule } = resolveModel({ ...request, prompt: '' }, credentials, catalogue);
    if (model === named) return undefined;
    if (rule.startsWith('auto_')) return `Runs do not use ${named}: the model is chosen for each, as model is auto.`;
    if (rule !== 'offline') return undefined;
    return `${notConfigured(describeModel(named, credentials, catalogue)).message} Until then runs use ${model}.`;
  } catch (error) {
    if (error instanceof ModelFailure) return `${error.message} Until then runs fail.`;
    throw error;
  }
}
