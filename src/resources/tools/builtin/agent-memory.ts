/** The memory as agents use it in a run. What they write is shared, and tells where it came from. */
import { Problem } from '../../../platform/core/problem.ts';
import type { Models } from '../../../platform/models/types.ts';
import type { MemorySearch } from './memory-search.ts';
import type { MemoryWrite } from './memory-write.ts';
import { ToolError } from '../model.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import type { MemoryStore } from '../../memory/store/index.ts';

interface AgentMemoryDependencies {
  store: MemoryStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  models: Pick<Models, 'embed'>;
  isBuiltinSkill: (slug: string) => boolean;
}

export const createAgentMemory = ({
  store,
  workspaces,
  models,
  isBuiltinSkill,
}: AgentMemoryDependencies): MemorySearch & MemoryWrite => ({
  async search({ customerId, agent, query, limit, signal }) {
    const [embedding] = await models.embed([query], { signal, workspace: customerId });
    return store.searchForAgent({ customerId, agent, embedding: embedding!, k: limit });
  },

  async write({ customerId, agent, runId, callId, ...note }) {
    const callKey = `${runId}:${callId}`;
    const written = await store.findByCall(customerId, callKey);
    if (written) return written;
    if (note.slug && isBuiltinSkill(note.slug)) throw taken(note.slug);
    const [embedding] = await models.embed([note.content], { workspace: customerId });
    const entry = { ...note, agent, callKey, embedding: embedding!, sourceAttribution: `run ${runId}` };
    try {
      const { id, slug } = await workspaces.underCap(
        customerId,
        'cold_memory_entries',
        () => store.countEntries(customerId),
        () => store.insertEntry(customerId, entry),
      );
      return { id, slug };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // An earlier attempt, which counted as lost, may have written it after all.
      const written = await store.findByCall(customerId, callKey);
      if (written) return written;
      throw error.code === 'slug_taken' ? taken(note.slug!) : new ToolError(reasonOf(error));
    }
  },
});

const taken = (slug: string) => new ToolError(`the slug "${slug}" is taken: choose another, or write without one`);

const reasonOf = ({ code, detail }: Problem): string => {
  if (code !== 'plan_limit_exceeded') return code;
  const { current, limit } = detail as { current: number; limit: number };
  return `the memory of this workspace is full (${current} of ${limit} entries): nothing was written; say so in your answer`;
};
