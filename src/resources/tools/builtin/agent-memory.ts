/** The memory as agents use it in a run. What they write is shared, and tells where it came from. */
import { Problem } from '../../../platform/core/problem.ts';
import { embedQuestion } from '../../../platform/models/embed-text.ts';
import type { Models } from '../../../platform/models/types.ts';
import type { MemorySearch } from './memory-search.ts';
import type { MemoryWrite } from './memory-write.ts';
import { ToolError } from '../model.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import type { MemoryStore } from '../../memory/store/index.ts';

interface AgentMemoryDependencies {
  store: MemoryStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  models: Pick<Models, 'embed' | 'embedding'>;
  isBuiltinSkill: (slug: string) => boolean;
}

export const createAgentMemory = ({
  store,
  workspaces,
  models,
  isBuiltinSkill,
}: AgentMemoryDependencies): MemorySearch & MemoryWrite => ({
  async search({ customerId, agent, query, limit, signal }) {
    const isReadable = models.embedding.reads(query);
    if (!isReadable || !(await store.areVectorsOf(models.embedding))) {
      const found = await store.searchForAgentByWords({ customerId, agent, text: query, k: limit });
      return { found, note: isReadable ? OF_ANOTHER : BY_WORDS };
    }
    const embedding = await embedQuestion(models, query, customerId, signal);
    const found = await store.searchForAgent({ customerId, agent, embedding, k: limit });
    return { found: found.filter(({ content }) => models.embedding.reads(content)) };
  },

  async write({ customerId, agent, runId, callId, ...note }) {
    const callKey = `${runId}:${callId}`;
    const isReadable = models.embedding.reads(note.content);
    const said = (entry: { id: number; slug: string | null }) => ({
      ...entry,
      ...(!isReadable && { note: UNREADABLE }),
    });
    const written = await store.findByCall(customerId, callKey);
    if (written) return said(written);
    if (note.slug && isBuiltinSkill(note.slug)) throw taken(note.slug);
    const [vector] = isReadable ? await models.embed([note.content], { workspace: customerId }) : [];
    const embedding = vector ? { model: models.embedding.model, vector } : null;
    const entry = { ...note, agent, callKey, embedding, sourceAttribution: `run ${runId}` };
    try {
      const { id, slug } = await workspaces.underCap(
        customerId,
        'cold_memory_entries',
        () => store.countEntries(customerId),
        () => store.insertEntry(customerId, entry),
      );
      return said({ id, slug });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // An earlier attempt, which counted as lost, may have written it after all.
      const written = await store.findByCall(customerId, callKey);
      if (written) return said(written);
      throw error.code === 'slug_taken' ? taken(note.slug!) : new ToolError(reasonOf(error));
    }
  },
});

const BY_WORDS =
  'The embedding model of this deployment cannot read the script of the query. The results share words with it and may ' +
  'not answer it; memories that say the same in other words are missing. A query in English searches by meaning.';
const OF_ANOTHER =
  'The memories are being moved to another embedding model. Until that is done the results share words with the query and ' +
  'may not answer it.';
const UNREADABLE =
  'The embedding model of this deployment cannot read the script of this note. It is found by its words alone and is not ' +
  'recalled into runs; a note in English would be.';

const taken = (slug: string) => new ToolError(`the slug "${slug}" is taken: choose another, or write without one`);

const reasonOf = ({ code, detail }: Problem): string => {
  if (code !== 'plan_limit_exceeded') return code;
  const { current, limit } = detail as { current: number; limit: number };
  return `the memory of this workspace is full (${current} of ${limit} entries): nothing was written; say so in your answer`;
};
