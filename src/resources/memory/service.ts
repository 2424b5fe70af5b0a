/**
 * What a caller can do with the memory. Texts are embedded before a transaction begins, never in one: that takes tens of
 * milliseconds, or a provider's time.
 */
import { sha256 } from '../../platform/core/crypto.ts';
import { Problem } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import type { Caller, Confirmation } from '../../platform/http/endpoint.ts';
import { embedQuestion, embedText, orProblem } from '../../platform/models/embed-text.ts';
import type { Models } from '../../platform/models/types.ts';
import type { OtpService } from '../otp/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { MemoryEntryChange, EntryQuery, NewMemoryEntry, MemorySuccessor } from './contract.ts';
import type { GraphQuery } from './graph/contract.ts';
import { SKILL } from './model.ts';
import type { MemoryLinkRow } from './store/edges.ts';
import { supersededStays, type EntryListRow, type EntryRow } from './store/entries.ts';
import type { MemoryStore } from './store/index.ts';
import { notActive } from './store/supersede.ts';

export type MemoryService = ReturnType<typeof createMemoryService>;

interface Dependencies {
  store: MemoryStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  otp: Pick<OtpService, 'gate'>;
  models: Pick<Models, 'embed' | 'embedding'>;
  /** @returns whether the slug is that of a built-in skill, and so is taken in every workspace */
  isBuiltinSkill: (slug: string) => boolean;
  /** Bodies of skills are then for those with the admin stamp alone, here as at their own address. */
  publicVisibility: boolean;
}

export const createMemoryService = (dependencies: Dependencies) => {
  const { store, workspaces, otp, models, isBuiltinSkill, publicVisibility } = dependencies;
  /** @returns the row, without its text where the caller may not read that */
  const shownTo =
    (caller: Caller) =>
    <Row extends { type: string }>(row: Row): Row =>
      publicVisibility && row.type === SKILL && !can(caller, 'skills.read-bodies')
        ? { ...row, ...('preview' in row && { preview: '' }), ...('content' in row && { content: '' }) }
        : row;

  const embed = (customerId: string, text: string) => embedText(models, text, customerId);

  /** Superseded entries count too: they are kept, and can be deleted. */
  const underCap = <T>(customerId: string, insert: () => Promise<T>): Promise<T> =>
    workspaces.underCap(customerId, 'cold_memory_entries', () => store.countEntries(customerId), insert);

  /** @throws Problem slug_taken */
  const requireFree = (slug: string | null | undefined): void => {
    if (slug && isBuiltinSkill(slug)) throw new Problem('slug_taken');
  };

  return {
    embed,
    /** Says of a slug that it is that of a built-in skill. */
    isTaken: isBuiltinSkill,

    stats: (customerId: string) => store.readStats(customerId),

    /** @throws Problem embedding_failed */
    async list(caller: Caller, { q, limit, ...filter }: EntryQuery) {
      const { customerId } = caller;
      const shown = shownTo(caller);
      if (q === undefined) {
        const { rows, total } = await store.listEntries(customerId, filter, limit);
        return { data: rows.map((row) => wireListRow(shown(row))), meta: { limit, search: false, total } };
      }
      const isComparable = models.embedding.reads(q) && (await store.areVectorsOf(models.embedding));
      const by = isComparable ? ('meaning' as const) : ('words' as const);
      const search = { customerId, k: limit, filters: filter };
      const rows =
        by === 'words'
          ? await store.searchEntriesByWords({ ...search, text: q })
          : (
              await store.searchEntries({ ...search, embedding: orProblem(embedQuestion(models, q, customerId)) })
            ).filter(({ preview }) => models.embedding.reads(preview));
      return { data: rows.map((row) => wireListRow(shown(row), row.score)), meta: { limit, search: true, by } };
    },

    /** @throws Problem not_found */
    get: async (caller: Caller, id: number) => wireEntry(shownTo(caller)(await store.findEntry(caller.customerId, id))),

    /** @throws Problem slug_taken, plan_limit_exceeded, workspace_archived, embedding_failed */
    async create(customerId: string, entry: NewMemoryEntry) {
      requireFree(entry.slug);
      const row = { ...columnsOf(entry), type: entry.type, embedding: await embed(customerId, entry.content) };
      return wireEntry(await underCap(customerId, () => store.insertEntry(customerId, row)));
    },

    /** @throws Problem not_found, bad_request, otp_required, embedding_failed */
    async update(caller: Caller, id: number, { re_embed, ...change }: MemoryEntryChange, confirmation: Confirmation) {
      if (!re_embed && Object.keys(change).length === 0) {
        throw new Problem(
          'bad_request',
          'nothing to change: send at least one of content, description, scope, always_load, meta, status, re_embed',
        );
      }
      const entry = await store.findEntry(caller.customerId, id);
      if (change.status && entry.status === 'superseded') throw supersededStays();
      if (change.content !== undefined || change.scope !== undefined) requireNoSkill(entry);
      // A request without a code is only told to come again, which need not wait for a vector.
      const isConfirmed = confirmation.code !== undefined;
      const embedding =
        re_embed && isConfirmed ? await embed(caller.customerId, change.content ?? entry.content) : undefined;
      const { content, description, scope, always_load: alwaysLoad, meta, status } = change;
      const columns = { content, description, scope, alwaysLoad, meta, status, embedding };
      const changed = await otp.gate(caller, confirmation, `memory.update:${id}`, () =>
        store.updateEntry(caller.customerId, id, columns),
      );
      return wireEntry(changed);
    },

    /** @throws Problem not_found, otp_required */
    async delete(caller: Caller, id: number, confirmation: Confirmation): Promise<void> {
      await store.findEntry(caller.customerId, id);
      await otp.gate(caller, confirmation, `memory.delete:${id}`, () => store.deleteEntries(caller.customerId, [id]));
    },

    /** @throws Problem not_found, otp_required */
    async bulkDelete(caller: Caller, given: readonly number[], confirmation: Confirmation) {
      const ids = [...new Set(given)].sort((a, b) => a - b);
      const known = await store.findIds(caller.customerId, ids);
      if (known.length < ids.length) throw new Problem('not_found');
      const scope = `memory.bulk_delete:${ids.length}:${sha256(ids.join(',')).slice(0, 16)}`;
      await otp.gate(caller, confirmation, scope, () => store.deleteEntries(caller.customerId, ids));
      return { deleted: ids.length };
    },

    /** @throws Problem not_found */
    verify: async (customerId: string, id: number) => ({ last_verified_at: await store.verifyEntry(customerId, id) }),

    /** @throws Problem not_found, entry_not_active, slug_taken, plan_limit_exceeded, embedding_failed */
    async supersede(customerId: string, id: number, given: MemorySuccessor) {
      const old = await store.findEntry(customerId, id);
      requireNoSkill(old);
      if (old.status !== 'active') throw notActive(old);
      requireFree(given.slug);
      const successor = { ...columnsOf(given), type: given.type, embedding: await embed(customerId, given.content) };
      return wireEntry(await underCap(customerId, () => store.supersedeEntry(customerId, id, successor)));
    },

    /** @throws Problem not_found */
    async links(customerId: string, id: number) {
      await store.findEntry(customerId, id);
      const { outgoing, incoming } = await store.listLinks(customerId, id);
      return { outgoing: outgoing.map(wireLink), incoming: incoming.map(wireLink) };
    },

    async graph(customerId: string, { type, ...filter }: GraphQuery) {
      const { nodes, edges, droppedDangling, truncated } = await store.readGraph(customerId, {
        ...filter,
        types: type,
      });
      const counts = { node_count: nodes.length, edge_count: edges.length, dropped_dangling: droppedDangling };
      return { nodes, edges, meta: { ...counts, truncated } };
    },
  };
};

/** Body and scope of a skill have rules of their own, which the endpoints of skills keep. */
function requireNoSkill({ type, slug }: Pick<EntryRow, 'type' | 'slug'>): void {
  if (type === SKILL) throw new Problem('bad_request', `this is a skill: change it with PATCH /v1/skills/${slug}`);
}

type Given = Omit<NewMemoryEntry, 'type'>;
const columnsOf = ({ always_load: alwaysLoad, source_attribution: sourceAttribution, ...entry }: Given) => ({
  ...entry,
  alwaysLoad,
  sourceAttribution,
});

const wireCommon = (row: Omit<EntryListRow, 'preview'>) => ({
  id: row.id,
  type: row.type,
  slug: row.slug,
  name: row.name,
  description: row.description,
  agent: row.agent,
  scope: row.scope,
  source_attribution: row.sourceAttribution,
  status: row.status,
  always_load: row.alwaysLoad,
  last_verified_at: row.lastVerifiedAt,
  meta: row.meta,
  has_embedding: row.hasEmbedding,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

const wireListRow = (row: EntryListRow, score: number | null = null) => ({
  ...wireCommon(row),
  preview: row.preview,
  score,
});

const wireEntry = (row: EntryRow) => ({
  ...wireCommon(row),
  content: row.content,
  hit_count: row.hitCount,
  impression_count: row.impressionCount,
  hit_rate: row.impressionCount === 0 ? 0 : row.hitCount / row.impressionCount,
  last_hit_at: row.lastHitAt,
});

const wireLink = (link: MemoryLinkRow) => ({ ...link, resolved: link.dst_id !== null });
