/** Tells which models the demo would call, before it calls one, and leads to the offline one. */
import { settingsOfDemo } from '../embedded/demo.ts';
import { checkSettings } from '../embedded/settings.ts';
import { present } from '../platform/core/present.ts';
import { configuredProviders, deploymentCredentials, PROVIDERS } from '../platform/models/catalogue.ts';
import { resolveModel } from '../platform/models/resolve.ts';
import { readCatalogue } from '../platform/models/known-models.ts';
import { createPrices } from '../platform/models/prices.ts';
import { isWithoutProvider, type ProviderName } from '../platform/models/types.ts';
import { builtinAgents } from '../resources/agents/builtin/index.ts';
import { builtinTemplates } from '../resources/templates/builtin/index.ts';
import { agrees } from './asking.ts';
import { CliError, print } from './output.ts';

/** These settings lead to somebody who is paid. */
const PAID = /^(ANTHROPIC|OPENAI|GOOGLE|VERTEX|AWS_BEARER_TOKEN|BEDROCK|AZURE_OPENAI|MISTRAL|EMBEDDING|MODEL_ROUTER)_/;

export const withoutModels = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PAID.test(name)));

/**
 * @returns the models that the agents of a workflow use, with their providers; none is the offline one
 * @throws CliError where the price of one is not known: each of its calls would be refused
 */
function modelsOfDemo(env: NodeJS.ProcessEnv, workflow: string): string[] {
  const config = checkSettings(settingsOfDemo(env));
  const credentials = deploymentCredentials(config);
  const catalogue = readCatalogue(config);
  const price = createPrices(catalogue);
  if (configuredProviders(credentials).length === 0) return [];
  const { spec } = present(builtinTemplates.find((template) => template.spec.slug === workflow));
  const steps = spec.phases.flatMap((phase) => phase.steps).filter(({ kind }) => kind === 'agent');
  const models = steps.map(({ assignee }) => {
    const agent = present(builtinAgents.get(present(assignee)));
    const { model, provider } = resolveModel(
      { model: agent.model, prompt: '', isBuiltin: true },
      credentials,
      catalogue,
    );
    if (isWithoutProvider(provider)) return model;
    const ofServer = credentials['openai-compatible']?.price;
    if (price({ model, provider }, { inputTokens: 1, outputTokens: 1 }, { ofServer }) === null)
      throw unpriced(model, provider);
    return `${model} (${PROVIDERS[provider].label})`;
  });
  return [...new Set(models)];
}

const unpriced = (model: string, provider: ProviderName): CliError =>
  new CliError(
    `no price is known for ${model}, so the demo's budget cannot be kept: ${
      provider === 'openai-compatible'
        ? 'set OPENAI_COMPATIBLE_PRICE (0 for a server of your own)'
        : 'add it to MODEL_PRICES'
    }, or use the offline model: npm run demo -- --offline`,
  );

/**
 * Says what is about to be used; whoever sits at a terminal decides.
 * @returns the settings to go on with
 */
export async function agreedSettings(
  env: NodeJS.ProcessEnv,
  { workflow, budgetUsd }: { workflow: string; budgetUsd: string },
): Promise<NodeJS.ProcessEnv> {
  const models = modelsOfDemo(env, workflow);
  if (models.length === 0) return env;
  print(`Your settings name a model: the demo uses ${models.join(', ')}, for $${budgetUsd} at most.`);
  print('With the offline model, which costs nothing: npm run demo -- --offline');
  if (!process.stdin.isTTY || !process.stdout.isTTY) return env;
  return (await agrees('Use it? Otherwise the offline model writes.')) ? env : withoutModels(env);
}
