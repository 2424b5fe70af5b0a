/** Manifests of skills. */
import { z } from 'zod';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import { NewSkill } from '../../skills/contract.ts';
import { categoryOf, titleOf } from '../../skills/model.ts';
import type { SkillService } from '../../skills/service.ts';
import type { SkillStore } from '../../skills/store.ts';
import { defineKind, listed, shaped, type Kind } from '../kind.ts';

const of = NewSkill.shape;
const SkillManifest = z
  .strictObject({
    slug: of.slug,
    name: of.name.transform(titleOf),
    description: of.description.unwrap().default(null),
    category: of.category.unwrap().default(null),
    agents: of.agents.unwrap().default([]).describe('Agents that can load it; none: all of them'),
    always_load: of.always_load.unwrap().default(false).describe('Its body is in every run of the agents it is for'),
    body: of.prompt_addendum.unwrap().default(''),
  })
  .transform((skill) => ({ ...skill, category: skill.category ?? categoryOf(skill.slug) }))
  .meta({ title: 'A skill' });
type SkillManifest = z.output<typeof SkillManifest>;

interface Dependencies {
  skills: Pick<SkillService, 'textOf'>;
  store: Pick<SkillStore, 'list' | 'find' | 'existing' | 'countCustom' | 'insert' | 'update' | 'delete'>;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
}

export function skillKind({ skills, store, workspaces }: Dependencies): Kind {
  const manifestOf = async (customerId: string, slug: string): Promise<SkillManifest> => {
    const skill = await store.find(customerId, slug);
    return {
      slug,
      name: skill.title,
      description: skill.description,
      category: skill.category,
      agents: [...skill.agents],
      always_load: skill.alwaysLoad,
      body: skill.body,
    };
  };
  return defineKind<SkillManifest>({
    kind: 'skill',
    shape: SkillManifest,
    read: async (content) => shaped(SkillManifest, content),
    nameField: 'slug',
    defaults: { description: null, agents: [], always_load: false, body: '' },
    shortened: ({ category, ...content }) =>
      category === categoryOf(String(content['slug'])) ? content : { ...content, category },
    async known(customerId, names) {
      const own = (await store.list(customerId)).filter(({ isBuiltin }) => !isBuiltin);
      const manifests: SkillManifest[] = [];
      for (const { slug } of own) if (names?.has(slug) ?? true) manifests.push(await manifestOf(customerId, slug));
      return manifests;
    },
    existing: (customerId, names) => store.existing(customerId, names),
    suggestions: async (customerId) => (await store.list(customerId)).map(({ slug }) => slug),
    references: ({ agents }) => listed('agent', agents, ['agents']),
    async check(customerId, { slug }) {
      const builtin = (await store.list(customerId)).some((skill) => skill.slug === slug && skill.isBuiltin);
      return builtin ? [{ path: ['slug'], message: `${slug} is built in: give yours another slug` }] : [];
    },
    async prepare({ customerId }, { slug, body, always_load: alwaysLoad, ...rest }, before) {
      const fields = { ...rest, alwaysLoad };
      const isSameText = before !== undefined && before['body'] === body;
      const text = isSameText ? undefined : await skills.textOf(customerId, body, rest.name);
      return async () => {
        if (before) await store.update(customerId, slug, text, () => fields);
        else if (text) {
          await workspaces.underCap(
            customerId,
            'custom_skills',
            () => store.countCustom(customerId),
            () => store.insert(customerId, slug, text, fields),
          );
        }
      };
    },
    remove:
      ({ customerId }, slug) =>
      () =>
        store.delete(customerId, slug),
  });
}
