import { z } from 'zod';
import { MAX_SLUG_LENGTH, NODE_SLUG, SKILL } from '../../memory/model.ts';
import { builtinTool } from './builtin-tool.ts';

export interface MemoryWrite {
  /** Writes once for each call. @throws ToolError where the workspace's memory is full or the slug is taken */
  write(note: {
    customerId: string;
    agent: string;
    runId: string;
    callId: string;
    type: string;
    content: string;
    slug?: string | undefined;
    name?: string | undefined;
    description?: string | undefined;
  }): Promise<{ id: number; slug: string | null; note?: string }>;
}

export const createMemoryWrite = ({ write }: MemoryWrite) =>
  builtinTool({
    slug: 'memory_write',
    area: 'memory',
    description:
      'Remembers something for later runs of this workspace: a fact that was found, a decision and its reason, a ' +
      'preference of the people you work for. One matter a note, understandable on its own; no secrets, nothing that ' +
      'is only of use now. `[[slug]]` in the content links to another note. Returns {id, slug}.',
    effect: 'idempotent',
    args: z.strictObject({
      content: z.string().regex(/\S/, 'expects some text').max(20_000),
      type: z
        .string()
        .trim()
        .min(1)
        .max(100)
        .refine((type) => type !== SKILL, 'skills are not written by agents')
        .default('note')
        .describe('note, fact, decision, feedback, pattern, reference, ...'),
      slug: z
        .string()
        .max(MAX_SLUG_LENGTH)
        .regex(NODE_SLUG, 'expects letters, digits, "-", "_", ".", ":" and "/"')
        .optional()
        .describe('A name that other notes can link to'),
      name: z.string().trim().min(1).max(200).optional().describe('A short title'),
      description: z.string().max(2_000).optional(),
    }),
    execute: (note, { customerId, agent, runId, callId }) => write({ ...note, customerId, agent, runId, callId }),
  });
