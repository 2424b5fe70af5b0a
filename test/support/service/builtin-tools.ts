/** The tools that ship, where nothing but what they say of themselves counts. */
import { createBuiltinTools, type BuiltinToolDependencies } from '../../../src/resources/tools/builtin/index.ts';

/** Whoever calls one of them finds that there is nothing behind it. */
export const NOTHING_BEHIND = {
  projects: {},
  attachments: {},
  skills: {},
  memory: {},
  pages: {},
} as unknown as BuiltinToolDependencies;

export const describedTools = createBuiltinTools(NOTHING_BEHIND);
