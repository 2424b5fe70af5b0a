/** Tells which models the demo would call, before it calls one, and leads to the offline one. */
import { settingsOfDemo } from '../embedded/demo.ts';
import { checkSettings } from '../embedded/settings.ts';
import { present } from '../platform/core/present.ts';
import { configuredProviders, deploymentCredentials, PROVIDERS } from '../platform/models/catalogue.ts';
import { resolveModel } from '../platform/models/resolve.ts';
import { isWithoutProvider } from '../platform/models/types.ts';
import { builtinAgents } from '../resources/agents/builtin/index.ts';
import { builtinTemplates } from '../resources/templates/builtin/index.ts';
import { agrees } from './asking.ts';
import { print } from './output.ts';

/** These settings lead to somebody who is paid. */
const PAID = /^(ANTHROPIC|OPENAI|EMBEDDING|MODEL_ROUTER)_/;

export const withoutModels = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PAID.test(name)));

/** @returns the models that the agents of a workflow use, with their providers; none is the offline one */
function modelsOfDemo(env: NodeJS.ProcessEnv, workflow: string): string[] {
  const credentials = deploymentCredentials(checkSettings(settingsOfDemo(env)));
  if (configuredProviders(credentials).length === 0) return [];
  const { spec } = present(builtinTemplates.find((template) => template.spec.slug === workflow));
  const steps = spec.phases.flatMap((phase) => phase.steps).filter(({ kind }) => kind === 'agent');
  const models = steps.map(({ assignee }) => {
    const agent = present(builtinAgents.get(present(assignee)));
    const { model, provider } = resolveModel({ model: agent.model, prompt: '' }, credentials);
    return isWithoutProvider(provider) ? model : `${model} (${PROVIDERS[provider].label})`;
  });
  return [...new Set(models)];
}

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
