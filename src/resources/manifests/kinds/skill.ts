/** Manifests of skills. */
import { SkillManifest } from '../../skills/manifest.ts';
import { categoryOf } from '../../skills/model.ts';
import type { SkillService } from '../../skills/service.ts';
import type { SkillStore } from '../../skills/store.ts';
import { defineKind, listed, shaped, type Kind } from '../kind.ts';

interface Dependencies {
  skills: Pick<SkillService, 'textOf' | 'insert'>;
  store: Pick<SkillStore, 'list' | 'find' | 'existing' | 'update' | 'delete'>;
}

export function skillKind({ skills, store }: Dependencies): Kind {
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
        else if (text) await skills.insert(customerId, slug, text, fields);
      };
    },
    remove:
      ({ customerId }, slug) =>
      () =>
        store.delete(customerId, slug),
  });
}
