/** The HTTP contract of the memory: its entries. The links between them are in `graph/contract.ts`. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { IntId, limit, notBlank, Timestamp } from '../../platform/http/schemas.ts';
import { ENTRY_STATUSES, MAX_SLUG_LENGTH, NODE_SLUG, PREVIEW_LENGTH, SHARED, SKILL } from './model.ts';

const MAX_CONTENT_LENGTH = 100_000;
const MAX_BULK = 10_000;

export const EntryPath = z.object({ entry_id: IntId });

const plain = {
  id: z.int(),
  type: z.string(),
  slug: z.string().nullable().describe('What wikilinks name it by'),
  name: z.string().nullable(),
  description: z.string().nullable(),
  agent: z.string().nullable().describe('Whose it is; null: everybody’s'),
  scope: z.string(),
  source_attribution: z.string().nullable(),
  status: z.enum(ENTRY_STATUSES),
  always_load: z.boolean().describe('Shown to the agent in every run'),
  last_verified_at: Timestamp.nullable(),
  meta: z.record(z.string(), z.unknown()).nullable(),
  has_embedding: z
    .boolean()
    .describe(
      'False: the embedding model cannot read its script, or another one had made the stored vectors when it was written. It is found by its words alone and never recalled',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

const EntryListRow = z
  .object({
    ...plain,
    preview: z.string().describe(`First ${PREVIEW_LENGTH} characters of the content`),
    score: z
      .number()
      .nullable()
      .describe('Cosine similarity to `q`, or the share of words in common; null without `q`'),
  })
  .meta({ id: 'MemoryEntryListRow' });

const Entry = z
  .object({
    ...plain,
    content: z.string(),
    hit_count: z.int().describe('Times it was recalled into a run'),
    impression_count: z.int().describe('Times it was considered for that'),
    hit_rate: z.number(),
    last_hit_at: Timestamp.nullable(),
  })
  .meta({ id: 'MemoryEntry' });

const Content = notBlank(
  z.string('content required').max(MAX_CONTENT_LENGTH, `content too long (max ${MAX_CONTENT_LENGTH} characters)`),
  'content required',
).describe('What is embedded; `[[slug]]` and `[[slug|label]]` in it link to other entries');
const Type = z
  .string('type required')
  .trim()
  .min(1, 'type required')
  .max(100, 'type too long (max 100 characters)')
  .refine((type) => type !== SKILL, 'skills are made with POST /v1/skills')
  .describe('Free label: note, pattern, fact, feedback, project, reference, ...');
const Scope = z.string().trim().min(1).max(64).describe('`shared`, `personal`, ...');
const Meta = z.record(z.string(), z.unknown()).nullable();
const Description = z.string().max(2_000).nullable();
/** A field that is sent empty counts as not sent. */
const optionalText = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .nullish()
    .transform((text) => (text === '' ? null : text));
const NO_SLUG = 'must be letters, digits, "-", "_", ".", ":" and "/"';
const EntrySlug = z
  .string()
  .min(1, { error: NO_SLUG, abort: true })
  .max(MAX_SLUG_LENGTH)
  .regex(NODE_SLUG, NO_SLUG)
  .nullish();

export const NewMemoryEntry = z
  .object(
    {
      content: Content,
      type: Type,
      slug: EntrySlug,
      name: optionalText(300),
      description: Description.optional(),
      source_attribution: optionalText(500),
      agent: optionalText(200).describe('Slug of an agent'),
      scope: Scope.default(SHARED),
      always_load: z.boolean().default(false),
      meta: Meta.optional(),
    },
    'content required',
  )
  .meta({ id: 'NewMemoryEntry' });
export type NewMemoryEntry = z.input<typeof NewMemoryEntry>;

const EntryChange = z
  .object({
    content: Content,
    description: Description,
    scope: Scope,
    always_load: z.boolean(),
    meta: Meta,
    status: z.enum(['active', 'archived'], 'status must be active or archived'),
    re_embed: z.boolean().describe('Have searches find it by the new content; without it they go by the old one'),
  })
  .partial()
  .meta({ id: 'MemoryEntryChange' });
export type MemoryEntryChange = z.output<typeof EntryChange>;

const Successor = z
  .object(
    {
      content: Content,
      type: Type.optional(),
      slug: EntrySlug,
      name: optionalText(300),
      description: Description.optional(),
      agent: optionalText(200),
      scope: Scope.optional(),
    },
    'content required',
  )
  .meta({ id: 'MemorySuccessor' });
export type MemorySuccessor = z.output<typeof Successor>;

export const filter = (max: number) =>
  z
    .string()
    .max(max)
    .optional()
    .transform((text) => text || undefined);
const EntryQuery = z.object({
  q: z
    .string()
    .trim()
    .max(4_000)
    .optional()
    .transform((text) => text || undefined)
    .describe('Finds entries by what they mean, the closest first'),
  agent: filter(200),
  type: filter(100),
  scope: filter(64),
  limit: limit(200, 50),
});
export type EntryQuery = z.output<typeof EntryQuery>;

const BULK_IDS = 'ids must be a non-empty list of whole numbers';
const BulkDelete = z
  .object(
    { ids: z.array(z.int(BULK_IDS), BULK_IDS).min(1, BULK_IDS).max(MAX_BULK, `ids: at most ${MAX_BULK} at once`) },
    BULK_IDS,
  )
  .meta({ id: 'MemoryBulkDelete' });

const Counts = z.array(z.object({ key: z.string(), count: z.int() })).describe('The most frequent first');

export const common = { badInput: 400 } as const;

export const memoryStats = endpoint({
  ...common,
  id: 'memory.stats',
  path: '/v1/memory/stats',
  summary: 'How many entries there are, by agent, type and scope',
  reply: z.object({
    total: z.int(),
    unreadable: z.int().describe('Entries that the embedding model cannot read (`has_embedding` is false)'),
    by_agent: Counts,
    by_type: Counts,
    by_scope: Counts,
  }),
});

export const listEntries = endpoint({
  ...common,
  id: 'memory.list',
  path: '/v1/memory/entries',
  summary: 'Entries, newest first, or with `q` those closest to it',
  query: EntryQuery,
  reply: z.object({
    data: z.array(EntryListRow),
    meta: z.object({
      limit: z.int(),
      search: z.boolean(),
      by: z
        .enum(['meaning', 'words'])
        .optional()
        .describe(
          'With `q` only. words: the embedding model cannot read the script of `q`, or another one made the stored vectors',
        ),
      total: z.int().optional().describe('Without `q` only'),
    }),
  }),
  problems: ['embedding_failed'],
});

export const getEntry = endpoint({
  ...common,
  id: 'memory.get',
  path: '/v1/memory/entries/{entry_id}',
  summary: 'An entry with its content and how often it was recalled',
  params: EntryPath,
  reply: Entry,
  problems: ['not_found'],
});

export const createEntry = endpoint({
  ...common,
  id: 'memory.create',
  path: '/v1/memory/entries',
  summary: 'Keep something in memory',
  description: 'It can be found by search at once. Links that wait for its slug lead to it from then on.',
  body: NewMemoryEntry,
  status: 201,
  reply: Entry,
  problems: ['plan_limit_exceeded', 'slug_taken', 'embedding_failed'],
});

export const updateEntry = endpoint({
  ...common,
  id: 'memory.update',
  method: 'patch',
  path: '/v1/memory/entries/{entry_id}',
  summary: 'Change an entry, archive it or bring it back',
  description: 'Fields that are not sent stay as they are.',
  otp: true,
  params: EntryPath,
  body: EntryChange.default({}),
  reply: Entry,
  problems: ['not_found', 'embedding_failed'],
});

export const deleteEntry = endpoint({
  ...common,
  id: 'memory.delete',
  method: 'delete',
  path: '/v1/memory/entries/{entry_id}',
  summary: 'Delete an entry for good; links to it become unresolved',
  otp: true,
  params: EntryPath,
  reply: NO_CONTENT,
  problems: ['not_found'],
});

export const bulkDeleteEntries = endpoint({
  ...common,
  id: 'memory.bulkDelete',
  path: '/v1/memory/entries/bulk-delete',
  summary: 'Delete several entries for good, all of them or none',
  otp: true,
  body: BulkDelete,
  reply: z.object({ deleted: z.int() }),
  problems: ['not_found'],
});

export const verifyEntry = endpoint({
  ...common,
  id: 'memory.verify',
  method: 'post',
  path: '/v1/memory/entries/{entry_id}/verify',
  summary: 'Note that an entry has been checked and still holds',
  params: EntryPath,
  reply: z.object({ last_verified_at: Timestamp }),
  problems: ['not_found'],
});

export const supersedeEntry = endpoint({
  ...common,
  id: 'memory.supersede',
  path: '/v1/memory/entries/{entry_id}/supersede',
  summary: 'Put a new entry in the place of an active one',
  description:
    'What is not sent is inherited. With an inherited slug links lead to the new entry, and the old one has none.',
  params: EntryPath,
  body: Successor,
  status: 201,
  reply: Entry,
  problems: ['not_found', 'entry_not_active', 'slug_taken', 'plan_limit_exceeded', 'embedding_failed'],
});
