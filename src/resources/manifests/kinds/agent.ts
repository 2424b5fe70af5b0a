/** Manifests of agents. Built-in ones are not written: what a workspace set about them stays where it is set. */
import { AgentManifest } from '../../agents/manifest.ts';
import type { Agent } from '../../agents/model.ts';
import type { AgentService } from '../../agents/service.ts';
import type { AgentStore } from '../../agents/store.ts';
import { SELECTION_MODES } from '../../agents/model.ts';
import { isOneOf } from '../../../platform/core/one-of.ts';
import { defineKind, listed, shaped, type Kind } from '../kind.ts';

interface Dependencies {
  agents: Pick<AgentService, 'create' | 'update'>;
  store: Pick<AgentStore, 'listAgents' | 'deleteAgent'>;
  /** Deletes a picture that nothing refers to. */
  discard: (file: string) => Promise<unknown>;
}

const manifestOf = (agent: Agent): AgentManifest => ({
  slug: agent.slug,
  description: agent.description,
  model: agent.model,
  prompt: agent.prompt,
  allowed_tools: agent.allowedTools,
  default_workspace: agent.defaultWorkspace,
  on_lost_effect: agent.onLostEffect,
  default_model: agent.defaultModel,
  selection_mode: isOneOf(SELECTION_MODES, agent.selectionMode) ? agent.selectionMode : null,
  effort: agent.effort,
  max_output_tokens: agent.maxOutputTokens,
  fallback_models: agent.fallbackModels,
});

export const agentKind = ({ agents, store, discard }: Dependencies): Kind =>
  defineKind<AgentManifest>({
    kind: 'agent',
    shape: AgentManifest,
    read: async (content) => shaped(AgentManifest, content),
    nameField: 'slug',
    defaults: {
      description: '',
      model: 'auto',
      allowed_tools: [],
      default_workspace: null,
      on_lost_effect: 'tell',
      default_model: null,
      selection_mode: null,
      effort: null,
      max_output_tokens: null,
      fallback_models: [],
    },
    async known(customerId, names) {
      const own = (await store.listAgents(customerId)).filter(({ isBuiltin }) => !isBuiltin);
      return own.filter(({ slug }) => names?.has(slug) ?? true).map(manifestOf);
    },
    async existing(customerId, names) {
      const known = new Set((await store.listAgents(customerId)).map(({ slug }) => slug));
      return new Set(names.filter((name) => known.has(name)));
    },
    suggestions: async (customerId) => (await store.listAgents(customerId)).map(({ slug }) => slug),
    references: ({ allowed_tools: tools }) => listed('tool', tools, ['allowed_tools']),
    async check(customerId, { slug }) {
      const builtin = (await store.listAgents(customerId)).some((agent) => agent.slug === slug && agent.isBuiltin);
      return builtin ? [{ path: ['slug'], message: `${slug} is built in: give yours another slug` }] : [];
    },
    prepare:
      async ({ customerId }, manifest, before) =>
      async () => {
        const { slug, ...rest } = manifest;
        if (before) await agents.update(customerId, slug, rest);
        else await agents.create(customerId, manifest);
      },
    remove:
      ({ customerId }, slug) =>
      async () => {
        const { avatarFile } = await store.deleteAgent(customerId, slug);
        return avatarFile === null ? undefined : () => discard(avatarFile);
      },
  });
