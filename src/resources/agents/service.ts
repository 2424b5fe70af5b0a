/**
 * What a workspace can do with agents: see all, make and change its own, and choose model, voice and picture of any.
 *
 * Built-in agents are never written; what a workspace chooses about them is a settings row of its own. In
 * public-visibility mode every reply goes through `redact`.
 */
import { Readable } from 'node:stream';
import { newUuid } from '../../platform/core/ids.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { FileStore } from '../../platform/files/files.ts';
import type { FileReply, UploadedFile } from '../../platform/http/endpoint.ts';
import { listedIn } from '../references/model.ts';
import type { References } from '../references/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { AgentChange, ModelChange, NewAgent, RecentRuns, VoiceChange } from './contract.ts';
import { hasChosenModel } from './builtin/index.ts';
import { AVATAR_PIXELS, MAX_AVATAR_BYTES, redact, type Agent } from './model.ts';
import type { AgentStore } from './store.ts';

export type AgentService = ReturnType<typeof createAgentService>;

interface AgentServiceDependencies {
  store: AgentStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  files: Pick<FileStore, 'put' | 'get' | 'discard'>;
  references: Pick<References, 'warningsFor' | 'requireUnused' | 'requireCallable'>;
  /** @returns what the runs resource says about an agent, by the name that its runs carry */
  recentRuns: (customerId: string, slug: string) => Promise<RecentRuns>;
  /** Says that built-in agents are shown without their prompts and code. */
  publicVisibility: boolean;
}

export const createAgentService = (dependencies: AgentServiceDependencies) => {
  const { store, workspaces, files, references, recentRuns, publicVisibility } = dependencies;

  const load = async (customerId: string, slug: string): Promise<Agent> =>
    found(await store.loadAgent(customerId, slug));
  const loadCustom = async (customerId: string, slug: string): Promise<void> => {
    if ((await load(customerId, slug)).isBuiltin) throw new Problem('builtin_immutable');
  };
  const shown = (agent: Agent) => (publicVisibility && agent.isBuiltin ? redact(agent) : agent);
  const listRow = (agent: Agent) => wireListRow(agent, shown(agent));
  const full = (agent: Agent) => ({ ...listRow(agent), ...wireRest(shown(agent)) });
  const fullOf = async (customerId: string, slug: string) => full(await load(customerId, slug));

  /** What was saved, and what of it does not work as it is. */
  async function saved(customerId: string, slug: string) {
    const agent = await load(customerId, slug);
    const { model, defaultModel, selectionMode, reasoning, resolverEnforce: enforce } = agent;
    const request = { model, defaultModel, selectionMode, reasoning, enforce };
    const named = listedIn('allowed_tools', 'tool', agent.allowedTools);
    const chosen = hasChosenModel(agent) ? { path: defaultModel ? 'default_model' : 'model', request } : undefined;
    return { ...full(agent), ...(await references.warningsFor(customerId, named, chosen)) };
  }

  const requireFallbacks = (customerId: string, { fallback_models: ids = [] }: Pick<AgentChange, 'fallback_models'>) =>
    references.requireCallable(customerId, 'fallback_models', ids);

  const discard = async (key: string | null): Promise<void> => {
    if (key) await files.discard(key);
  };

  return {
    async listInvokable(customerId: string) {
      const agents = await store.listAgents(customerId);
      return { data: agents.map(({ slug, description }) => ({ slug, description })), meta: { total: agents.length } };
    },

    async list(customerId: string) {
      const agents = await store.listAgents(customerId);
      const builtin = agents.filter(({ isBuiltin }) => isBuiltin).length;
      return { data: agents.map(listRow), meta: { total: agents.length, builtin, custom: agents.length - builtin } };
    },

    async detail(customerId: string, slug: string) {
      const agent = await load(customerId, slug);
      return { ...full(agent), recent_runs: await recentRuns(customerId, slug) };
    },

    async create(customerId: string, agent: NewAgent) {
      await requireFallbacks(customerId, agent);
      await workspaces.underCap(
        customerId,
        'agents',
        () => store.countCustom(customerId),
        () =>
          store.insertAgent(
            customerId,
            agent.slug,
            { ...definitionOf(agent), model: agent.model, prompt: agent.prompt },
            choicesOf(agent),
          ),
      );
      return saved(customerId, agent.slug);
    },

    async update(customerId: string, slug: string, change: AgentChange) {
      requireChange(change, [
        'model',
        'prompt',
        'description',
        'allowed_tool_slugs',
        'default_workspace',
        'on_lost_effect',
        ...CHOICES,
      ]);
      await loadCustom(customerId, slug);
      await requireFallbacks(customerId, change);
      await store.changeAgent(customerId, slug, { definition: definitionOf(change), settings: choicesOf(change) });
      return saved(customerId, slug);
    },

    /** A custom agent has one model, in its definition; of a built-in one the workspace's choice goes on top. */
    async setModel(customerId: string, slug: string, change: ModelChange) {
      requireChange(change, ['model', ...CHOICES, 'reasoning', 'resolver_enforce']);
      const { isBuiltin } = await load(customerId, slug);
      await requireFallbacks(customerId, change);
      const { model } = change;
      if (!isBuiltin && model === null) throw new Problem('bad_request', 'model: a custom agent must have one');
      const choices = { ...choicesOf(change), reasoning: change.reasoning, resolverEnforce: change.resolver_enforce };
      await store.changeAgent(
        customerId,
        slug,
        isBuiltin
          ? { settings: { ...choices, model } }
          : { definition: { model: model ?? undefined }, settings: choices },
      );
      return saved(customerId, slug);
    },

    async setVoice(customerId: string, slug: string, change: VoiceChange) {
      requireChange(change, ['voice']);
      await store.changeAgent(customerId, slug, { settings: { voice: change.voice } });
      return fullOf(customerId, slug);
    },

    /** Deletes a custom agent; runs keep the name of the agent that they ran. */
    async delete(customerId: string, slug: string, force: boolean): Promise<void> {
      await loadCustom(customerId, slug);
      if (!force) await references.requireUnused(customerId, 'agent', slug);
      const { avatarFile } = await store.deleteAgent(customerId, slug);
      await discard(avatarFile);
    },

    async avatar(customerId: string, slug: string): Promise<FileReply> {
      const { avatarFile } = await load(customerId, slug);
      const bytes = await files.get(found(avatarFile ?? undefined));
      return { contentType: 'image/webp', body: Readable.from([bytes]), sizeBytes: bytes.length };
    },

    /** The new picture is stored before anything refers to it, the old one goes when nothing does any more. */
    async putAvatar(customerId: string, slug: string, file: UploadedFile | undefined) {
      await load(customerId, slug);
      const picture = await toAvatar(file);
      const key = `avatars/${customerId}/${newUuid()}.webp`;
      await files.put(key, picture, 'image/webp').catch(async (error: unknown) => {
        await files.discard(key, error);
        throw error;
      });
      const before = await store
        .changeAgent(customerId, slug, { settings: { avatarFile: key } })
        .catch(async (error) => {
          // Any other error may have come after the commit, and then the row refers to the file.
          if (error instanceof Problem) await discard(key);
          throw error;
        });
      await discard(before.avatarFile);
      return fullOf(customerId, slug);
    },

    async deleteAvatar(customerId: string, slug: string): Promise<void> {
      const before = await store.changeAgent(customerId, slug, { settings: { avatarFile: null } });
      await discard(before.avatarFile);
    },
  };
};

/** @throws Problem bad_request where both names are given and say different things */
function toolsIn({ allowed_tool_slugs: written, allowed_tools: shown }: AgentChange): string[] | undefined {
  if (written && shown && [...written].sort().join() !== [...shown].sort().join()) {
    throw new Problem('bad_request', 'allowed_tools: the same as allowed_tool_slugs; send one of them');
  }
  const slugs = written ?? shown;
  return slugs && [...new Set(slugs)];
}

/** Translates the body's words for columns of the definition; what was not sent is undefined and stays as it is. */
const definitionOf = (body: AgentChange) => ({
  model: body.model,
  prompt: body.prompt,
  description: body.description,
  allowedTools: toolsIn(body),
  defaultWorkspace: body.default_workspace,
  onLostEffect: body.on_lost_effect,
});
const choicesOf = (body: Pick<AgentChange, Choice>) => ({
  defaultModel: body.default_model,
  selectionMode: body.selection_mode,
  effort: body.effort,
  maxOutputTokens: body.max_output_tokens,
  fallbackModels: body.fallback_models,
});
type Choice = (typeof CHOICES)[number];
const CHOICES = [
  'default_model',
  'selection_mode',
  'effort',
  'max_output_tokens',
  'fallback_models',
] as const satisfies (keyof AgentChange)[];

function requireChange<T extends object>(change: T, fields: (keyof T & string)[]): void {
  if (Object.keys(change).length > 0) return;
  throw new Problem('bad_request', `nothing to change: send at least one of ${fields.join(', ')}`);
}

const wireListRow = (agent: Agent, shown: Agent) => ({
  slug: agent.slug,
  description: agent.description,
  model: agent.model,
  module: shown.module,
  class_name: shown.className,
  prompt_length: agent.prompt.length,
  allowed_tools_count: agent.allowedTools.length,
  allowed_tools: agent.allowedTools,
  is_builtin: agent.isBuiltin,
  default_model: agent.defaultModel,
  selection_mode: agent.selectionMode,
  reasoning: agent.reasoning,
  resolver_enforce: agent.resolverEnforce,
  memory_mode: agent.memoryMode,
  on_lost_effect: agent.onLostEffect,
  owner_customer_id: agent.ownerCustomerId ?? undefined,
  version: agent.version ?? undefined,
  redacted: shown === agent ? undefined : (true as const),
});

const wireRest = (agent: Agent) => ({
  prompt: agent.prompt,
  session_prompt: agent.sessionPrompt,
  heartbeat_prompt: agent.heartbeatPrompt,
  // An agent has exactly its `allowed_tools`: there is no wider list to block from or to add to.
  allowlist_block: [],
  allowlist_add: [],
  default_workspace: agent.defaultWorkspace,
  effort: agent.effort,
  max_output_tokens: agent.maxOutputTokens,
  fallback_models: agent.fallbackModels,
  voice: agent.voice,
  has_avatar: agent.avatarFile !== null,
  created_at: agent.createdAt,
  updated_at: agent.updatedAt,
});

const AVATAR_TYPES = ['image/png', 'image/jpeg', 'image/webp'];
/** A small file can unfold into gigabytes of pixels. */
const MAX_PIXELS = 50_000_000;

/**
 * Makes a square WebP without metadata of the upload. It is made anew of the pixels, so that nothing else that a file
 * may carry is ever served.
 * @throws Problem invalid_upload
 */
async function toAvatar(file: UploadedFile | undefined): Promise<Buffer> {
  if (!file) throw new Problem('invalid_upload', 'send the picture in the multipart field "file"');
  if (file.bytes.length > MAX_AVATAR_BYTES) throw new Problem('invalid_upload', 'the picture must not be over 2 MB');
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(file.bytes);
  if (!type || !AVATAR_TYPES.includes(type.mime)) {
    throw new Problem('invalid_upload', 'the picture must be a PNG, JPEG or WebP');
  }
  const { default: open } = await import('sharp');
  try {
    return await open(file.bytes, { limitInputPixels: MAX_PIXELS })
      .timeout({ seconds: 20 })
      .autoOrient()
      .resize(AVATAR_PIXELS, AVATAR_PIXELS, { fit: 'cover' })
      .webp({ quality: 85 })
      .toBuffer();
  } catch {
    throw new Problem('invalid_upload', 'the picture cannot be read');
  }
}
