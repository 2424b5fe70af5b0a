/** How a file says an agent: what ships with the service and what a workspace applies are read by it. */
import { z } from 'zod';
import { NewAgent } from './contract.ts';

const of = NewAgent.shape;
export const AgentManifest = z
  .strictObject({
    slug: of.slug,
    description: of.description.unwrap().default('').describe('What it is for: a run that names no agent goes by it'),
    model: of.model.default('auto'),
    prompt: of.prompt,
    allowed_tools: of.allowed_tools.unwrap().default([]).describe('Slugs of tools that it may call'),
    default_workspace: of.default_workspace.unwrap().default(null),
    on_lost_effect: of.on_lost_effect.unwrap().default('tell'),
    default_model: of.default_model.unwrap().default(null),
    selection_mode: of.selection_mode.unwrap().default(null),
    effort: of.effort.unwrap().default(null),
    max_output_tokens: of.max_output_tokens.unwrap().default(null),
    fallback_models: of.fallback_models.unwrap().default([]),
  })
  .meta({ title: 'An agent' });
export type AgentManifest = z.output<typeof AgentManifest>;
