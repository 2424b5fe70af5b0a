/**
 * What a workspace can do with skills: see all, make and change its own.
 *
 * A skill is an entry of the memory, so it is embedded and linked like one. In public-visibility mode bodies are for
 * admins alone.
 */
import { Problem } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { embedText } from '../../platform/models/embed-text.ts';
import type { Models } from '../../platform/models/types.ts';
import { wikilinks } from '../memory/model.ts';
import { listedIn } from '../references/model.ts';
import type { References } from '../references/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { NewSkill, SkillChange } from './contract.ts';
import { agentOf, scopeOf, type Skill, type SkillDetail } from './model.ts';
import type { SkillFields, SkillStore, SkillText } from './store.ts';

export type SkillService = ReturnType<typeof createSkillService>;

interface SkillServiceDependencies {
  store: SkillStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  models: Pick<Models, 'embed' | 'embedding'>;
  references: Pick<References, 'warningsFor' | 'requireUnused'>;
  /** @returns of these slugs at least those that are tools of the workspace */
  toolsAmong: (customerId: string, slugs: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Says that only admins are shown bodies. */
  publicVisibility: boolean;
}

export const createSkillService = (dependencies: SkillServiceDependencies) => {
  const { store, workspaces, models, references, toolsAmong, publicVisibility } = dependencies;

  /** It is called before any transaction, because an embedding takes its time. */
  async function textOf(customerId: string, content: string, name: string): Promise<SkillText> {
    const links = wikilinks(content);
    const tools = links.length > 0 ? await toolsAmong(customerId, links) : new Set();
    return {
      content,
      embedding: await embedText(models, content || name, customerId),
      typeOf: (slug) => (tools.has(slug) ? 'uses_tool' : 'depends_on'),
    };
  }

  /**
   * Inserts a skill under the cap of the plan, for endpoints and manifests.
   * @throws Problem slug_taken, plan_limit_exceeded, workspace_archived
   */
  const insert = (customerId: string, slug: string, text: SkillText, fields: SkillFields & { name: string }) =>
    workspaces.underCap(
      customerId,
      'custom_skills',
      () => store.countCustom(customerId),
      () => store.insert(customerId, slug, text, fields),
    );

  async function get(caller: Caller, slug: string) {
    const { customerId } = caller;
    const skill = await store.find(customerId, slug);
    const usedBy = await store.countReferences(customerId);
    return {
      ...wireRow(skill, usedBy(slug)),
      ...wireRest(skill, publicVisibility && !can(caller, 'skills.read-bodies')),
    };
  }

  /** What was saved, and what of it does not work as it is. */
  async function saved(caller: Caller, slug: string) {
    const skill = await get(caller, slug);
    return {
      ...skill,
      ...(await references.warningsFor(caller.customerId, listedIn('agents', 'agent', skill.agents))),
    };
  }

  return {
    get,
    textOf,
    insert,

    async list(customerId: string) {
      const skills = await store.list(customerId);
      const usedBy = await store.countReferences(customerId);
      const builtin = skills.filter(({ isBuiltin }) => isBuiltin).length;
      return {
        data: skills.map((skill) => wireRow(skill, usedBy(skill.slug))),
        meta: { total: skills.length, builtin, custom: skills.length - builtin },
      };
    },

    async create(caller: Caller, { slug, prompt_addendum: body = '', ...rest }: NewSkill) {
      const { customerId } = caller;
      const fields = { ...fieldsOf(rest), name: rest.name, agents: agentsAfter(rest, []) };
      const text = await textOf(customerId, body, rest.name);
      await insert(customerId, slug, text, fields);
      return saved(caller, slug);
    },

    async update(caller: Caller, slug: string, { prompt_addendum: body, ...rest }: SkillChange) {
      if (body === undefined && Object.values(rest).every((value) => value === undefined)) {
        throw new Problem('bad_request', 'nothing to change: send at least one of the fields of a skill');
      }
      const { customerId } = caller;
      const { isBuiltin, title } = await store.find(customerId, slug);
      if (isBuiltin) throw immutable(slug);
      const text = body === undefined ? undefined : await textOf(customerId, body, rest.name ?? title);
      await store.update(customerId, slug, text, ({ agents }) => ({
        ...fieldsOf(rest),
        agents: agentsAfter(rest, agents),
      }));
      return saved(caller, slug);
    },

    async delete(customerId: string, slug: string, force: boolean): Promise<void> {
      if ((await store.find(customerId, slug)).isBuiltin) throw immutable(slug);
      if (!force) await references.requireUnused(customerId, 'skill', slug);
      await store.delete(customerId, slug);
    },
  };
};

const immutable = (slug: string): Problem =>
  new Problem('builtin_immutable', `${slug} is built in and cannot be changed or deleted`);

/** Translates the body's words for columns; what was not sent is undefined and stays as it is. */
const fieldsOf = ({ name, description, category, always_load }: SkillChange): SkillFields => ({
  name,
  description,
  category,
  alwaysLoad: always_load,
});

/**
 * @returns who can load a skill after this request. Naming agents without a scope makes the skill theirs alone, so that
 * nobody opens it to all by forgetting a word.
 */
function agentsAfter({ scope, agents, agent }: SkillChange, before: readonly string[]): string[] {
  const sent = agents ?? (agent === undefined ? undefined : agent === null ? [] : [agent]);
  const wanted = scope ?? (sent && sent.length > 0 ? 'agent' : scopeOf({ agents: before }));
  if (wanted === 'shared') return [];
  const chosen = [...new Set(sent ?? before)];
  if (chosen.length === 0) throw new Problem('bad_request', 'agents: the scope agent needs at least one agent');
  return chosen;
}

const wireRow = (skill: Skill, usedBy: number) => ({
  slug: skill.slug,
  title: skill.title,
  description: skill.description,
  category: skill.category,
  path: null,
  body_length: skill.bodyLength,
  is_builtin: skill.isBuiltin,
  used_by: usedBy,
});

const wireRest = (skill: SkillDetail, isRedacted: boolean) => ({
  id: skill.id,
  body: isRedacted ? '' : skill.body,
  redacted: isRedacted ? (true as const) : undefined,
  always_load: skill.alwaysLoad,
  status: skill.status,
  agent: agentOf(skill),
  agents: [...skill.agents],
  scope: scopeOf(skill),
});
