/** The tools that ship with the product. A new one is a file in this folder and a line here. */
import type { Tool, ToolSource } from '../model.ts';
import { createAskHuman, type Pages } from './ask-human.ts';
import { awaitSubmission } from './await-submission.ts';
import { calculator } from './calculator.ts';
import { currentTime } from './current-time.ts';
import { httpRequest } from './http-request.ts';
import { createLoadSkill } from './load-skill.ts';
import { createMemorySearch, type MemorySearch } from './memory-search.ts';
import { createMemoryWrite, type MemoryWrite } from './memory-write.ts';
import { createReadArtifact } from './read-artifact.ts';
import { createReadAttachment } from './read-attachment.ts';
import { createResolveWebhookGate } from './resolve-webhook-gate.ts';
import { saveArtifact } from './save-artifact.ts';
import { spawnRun } from './spawn-run.ts';

export interface BuiltinTools extends ToolSource {
  all: readonly Tool[];
}

/** Some of them are made with these. */
export interface BuiltinToolDependencies {
  projects: Parameters<typeof createReadArtifact>[0] & Parameters<typeof createResolveWebhookGate>[0];
  attachments: Parameters<typeof createReadAttachment>[0];
  skills: Parameters<typeof createLoadSkill>[0];
  memory: MemorySearch & MemoryWrite;
  pages: Pages;
}

export const createBuiltinTools = ({ projects, attachments, skills, memory, pages }: BuiltinToolDependencies) =>
  builtinToolsOf([
    httpRequest,
    calculator,
    currentTime,
    spawnRun,
    saveArtifact,
    createReadArtifact(projects),
    createReadAttachment(attachments),
    createLoadSkill(skills),
    createMemorySearch(memory),
    createMemoryWrite(memory),
    createAskHuman(pages),
    awaitSubmission,
    createResolveWebhookGate(projects),
  ]);

export const builtinToolsOf = (all: readonly Tool[]): BuiltinTools => {
  const bySlug = new Map(all.map((tool) => [tool.slug, tool]));
  if (bySlug.size !== all.length) throw new Error('two built-in tools have the same slug');
  return {
    all,
    find: async (_, slugs) => slugs.flatMap((slug) => bySlug.get(slug) ?? []),
    list: async () => [...all],
  };
};
