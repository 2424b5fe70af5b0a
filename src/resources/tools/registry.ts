/** All tools of a workspace, wherever they come from. A slug means the tool of the first source that has it. */
import type { Tool, ToolSource } from './model.ts';
import type { ToolStore } from './store.ts';

export interface ToolRegistry {
  /** @returns the existing tools of these slugs, in the order asked for, each once */
  find(customerId: string, slugs: readonly string[]): Promise<Tool[]>;
  get(customerId: string, slug: string): Promise<Tool | undefined>;
  /** @returns all tools, source by source */
  list(customerId: string): Promise<Tool[]>;
}

/** @param sources the built-in ones come first, so that nobody can put another tool under a built-in slug */
export const createToolRegistry = (sources: readonly ToolSource[]): ToolRegistry => {
  const find = async (customerId: string, slugs: readonly string[]): Promise<Tool[]> => {
    const found = new Map<string, Tool>();
    for (const source of sources) {
      const missing = [...new Set(slugs)].filter((slug) => !found.has(slug));
      if (missing.length === 0) break;
      for (const tool of await source.find(customerId, missing)) found.set(tool.slug, tool);
    }
    return [...new Set(slugs)].flatMap((slug) => found.get(slug) ?? []);
  };
  const list = async (customerId: string): Promise<Tool[]> => {
    const listed = new Map<string, Tool>();
    for (const source of sources) {
      for (const tool of (await source.list?.(customerId)) ?? []) {
        if (!listed.has(tool.slug)) listed.set(tool.slug, tool);
      }
    }
    return [...listed.values()];
  };
  return { find, list, get: async (customerId, slug) => (await find(customerId, [slug]))[0] };
};

/** @returns of these slugs at least those that are tools of the workspace, including those that no agent may use yet */
export const toolsAmong =
  ({ shipped, store }: { shipped: Pick<ToolRegistry, 'find'>; store: Pick<ToolStore, 'list'> }) =>
  async (customerId: string, slugs: readonly string[]): Promise<ReadonlySet<string>> => {
    const known = [...(await shipped.find(customerId, slugs)), ...(await store.list(customerId))];
    return new Set(known.map(({ slug }) => slug));
  };
