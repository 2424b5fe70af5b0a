/** Makes what agents know and are given: memories, skills, uploaded files; and the agents themselves. */
import { createBeginnings } from '../resources/agent-context/beginning.ts';
import { createPictures } from '../resources/agent-context/pictures.ts';
import { createSkillSection } from '../resources/agent-context/skill-section.ts';
import { createAgentStore } from '../resources/agents/store.ts';
import { createAttachmentService } from '../resources/attachments/service.ts';
import { createAttachmentStore } from '../resources/attachments/store.ts';
import { createMemoryService } from '../resources/memory/service.ts';
import { createMemoryStore } from '../resources/memory/store/index.ts';

import { builtinSkills } from '../resources/skills/builtin/index.ts';
import { createSkillStore } from '../resources/skills/store.ts';
import { createAgentMemory } from '../resources/tools/builtin/agent-memory.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Platform } from './platform.ts';

export type Knowledge = ReturnType<typeof composeKnowledge>;

const isBuiltinSkill = (slug: string): boolean => builtinSkills.has(slug);

export function composeKnowledge(
  { config, log, db }: Runtime,
  { files, models }: Platform,
  { otp, stores: { workspaces } }: Access,
) {
  const stores = {
    agents: createAgentStore(db),
    attachments: createAttachmentStore(db),
    memory: createMemoryStore(db),
    skills: createSkillStore(db),
  };
  const memory = { store: stores.memory, workspaces, models, isBuiltinSkill };
  return {
    stores,
    agentMemory: createAgentMemory(memory),
    attachments: createAttachmentService({ store: stores.attachments, files, workspaces, log }),
    loadPictures: createPictures({ attachments: stores.attachments, files, models }),
    loadBeginning: createBeginnings({
      store: stores.memory,
      models,
      skillSection: createSkillSection(stores.skills),
      settings: config,
      log,
    }),
    memory: createMemoryService({ ...memory, otp, publicVisibility: config.PUBLIC_VISIBILITY }),
  };
}
