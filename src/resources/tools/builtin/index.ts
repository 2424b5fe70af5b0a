/** The tools that ship. A new one is a file in this folder and a line here. */
import type { Tool, ToolSource } from '../model.ts';
import { calculator } from './calculator.ts';
import { currentTime } from './current-time.ts';
import { httpRequest } from './http-request.ts';
import { saveArtifact } from './save-artifact.ts';
import { spawnRun } from './spawn-run.ts';

export interface BuiltinTools extends ToolSource {
  all: readonly Tool[];
}

/** @param more tools that are made with something: a store, a search index */
export const createBuiltinTools = (more: readonly Tool[] = []): BuiltinTools => {
  const all = [httpRequest, calculator, currentTime, spawnRun, saveArtifact, ...more];
  const bySlug = new Map(all.map((tool) => [tool.slug, tool]));
  if (bySlug.size !== all.length) throw new Error('two built-in tools have one slug');
  return {
    all,
    find: async (_, slugs) => slugs.flatMap((slug) => bySlug.get(slug) ?? []),
    list: async () => [...all],
  };
};
