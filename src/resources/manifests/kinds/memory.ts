/**
 * Manifests of memories: of those that are marked so (`meta.in_files`), and no others, since agents write most of what a
 * workspace remembers. A file makes a marked one; to have one that is there already in the files, mark it.
 */
import { z } from 'zod';
import { present } from '../../../platform/core/present.ts';
import { NewMemoryEntry } from '../../memory/contract.ts';
import { IN_FILES, NODE_SLUG } from '../../memory/model.ts';
import type { MemoryService } from '../../memory/service.ts';
import type { MemoryStore } from '../../memory/store/index.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import { defineKind, shaped, type Kind } from '../kind.ts';

const of = NewMemoryEntry.shape;
const text = (schema: typeof of.name | typeof of.agent | typeof of.source_attribution) =>
  schema.transform((value) => value ?? null).default(null);
const MemoryManifest = z
  .strictObject({
    slug: z.string().min(1).max(128).regex(NODE_SLUG, 'must be letters, digits, "-", "_", ".", ":" and "/"'),
    type: of.type,
    name: text(of.name),
    description: of.description.unwrap().default(null),
    agent: text(of.agent).describe('Whose it is; without one it is for all'),
    scope: of.scope,
    always_load: of.always_load,
    source_attribution: text(of.source_attribution),
    meta: of.meta.unwrap().default(null),
    content: of.content,
  })
  .meta({ title: 'A memory' });
type MemoryManifest = z.output<typeof MemoryManifest>;

interface Dependencies {
  memory: Pick<MemoryService, 'embed' | 'isTaken'>;
  store: Pick<
    MemoryStore,
    'listInFiles' | 'findSlugs' | 'countEntries' | 'insertEntry' | 'updateEntry' | 'deleteEntries'
  >;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
}
type Row = Awaited<ReturnType<Dependencies['store']['listInFiles']>>[number];

function manifestOf({ slug, type, name, description, agent, scope, content, ...row }: Row): MemoryManifest {
  const { [IN_FILES]: _mark, ...meta } = row.meta ?? {};
  return {
    slug: slug ?? '',
    type,
    name,
    description,
    agent,
    scope,
    content,
    always_load: row.alwaysLoad,
    source_attribution: row.sourceAttribution,
    meta: Object.keys(meta).length === 0 ? null : meta,
  };
}

export function memoryKind({ memory, store, workspaces }: Dependencies): Kind {
  const find = async (customerId: string, slug: string) =>
    (await store.listInFiles(customerId)).find((row) => row.slug === slug);
  return defineKind<MemoryManifest>({
    kind: 'memory',
    nameField: 'slug',
    shape: MemoryManifest,
    read: async (content) => shaped(MemoryManifest, content),
    defaults: {
      name: null,
      description: null,
      agent: null,
      source_attribution: null,
      meta: null,
      scope: 'shared',
      always_load: false,
    },
    async known(customerId, names) {
      const rows = await store.listInFiles(customerId);
      return rows.filter(({ slug }) => slug !== null && (names?.has(slug) ?? true)).map(manifestOf);
    },
    existing: async (customerId, names) => new Set(await store.findSlugs(customerId, names)),
    suggestions: async (customerId) => (await store.listInFiles(customerId)).flatMap(({ slug }) => slug ?? []),
    references: ({ agent }) => (agent === null ? [] : [{ kind: 'agent', name: agent, path: ['agent'] }]),
    async check(customerId, { slug }) {
      const isMarked = (await find(customerId, slug)) !== undefined;
      const isTaken = memory.isTaken(slug) || (await store.findSlugs(customerId, [slug])).length > 0;
      const message = `a memory or skill of this slug is there, and not of the files: mark it with meta.${IN_FILES}: true`;
      return isTaken && !isMarked ? [{ path: ['slug'], message }] : [];
    },
    async prepare({ customerId }, manifest, before) {
      const { slug, always_load: alwaysLoad, source_attribution: sourceAttribution, meta: said, ...rest } = manifest;
      const meta = { ...said, [IN_FILES]: true };
      const isSameText = before !== undefined && before['content'] === rest.content;
      const embedding = isSameText ? undefined : await memory.embed(customerId, rest.content);
      const values = { ...rest, alwaysLoad, sourceAttribution, meta };
      return async () => {
        const row = await find(customerId, slug);
        if (row)
          await store.updateEntry(customerId, row.id, { ...values, ...(embedding !== undefined && { embedding }) });
        else {
          const entry = { ...values, slug, embedding: embedding ?? null };
          await workspaces.underCap(
            customerId,
            'cold_memory_entries',
            () => store.countEntries(customerId),
            () => store.insertEntry(customerId, entry),
          );
        }
      };
    },
    remove:
      ({ customerId }, slug) =>
      async () => {
        const { id } = present(await find(customerId, slug), `the memory ${slug}`);
        await store.deleteEntries(customerId, [id]);
      },
  });
}
