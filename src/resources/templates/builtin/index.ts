/** The workflows that ship. A new one is a file in this folder and a line here; a changed one has the next `version`. */
import { z } from 'zod';
import { readShippedFiles } from '../../../platform/core/shipped-files.ts';
import type { BuiltinTemplate, PhaseSpec } from '../model.ts';

const SLUGS = [
  'content',
  'micro-saas',
  'blog-post',
  'sticker-pack',
  'landing-page',
  'content-slideshow',
  'childrens-book',
  'motion-graphics',
  'worksheet',
  'digital-planner',
];

/**
 * A start reads the files without compiling their JSON Schemas, which takes a second on a slow machine.
 * `test/platform/core/shipped-files.test.ts` holds each to the shape that a workspace's own has.
 */
const Shipped = z.strictObject({
  slug: z.string(),
  version: z.int().positive().default(1),
  title: z.string(),
  description: z.string().min(1),
  collection: z.string(),
  tags: z.array(z.string()),
  params: z.record(z.string(), z.unknown()).optional(),
  phases: z.custom<PhaseSpec[]>(Array.isArray),
});

const withoutLastLineBreaks = ({ steps, ...phase }: PhaseSpec): PhaseSpec => ({
  ...phase,
  steps: steps.map(({ instructions, ...step }) => ({
    ...step,
    ...(instructions !== undefined && { instructions: instructions.trim() }),
  })),
});

const shipped = await readShippedFiles(new URL('./', import.meta.url), Shipped, SLUGS);
export const builtinTemplates: readonly BuiltinTemplate[] = Array.from(
  shipped.values(),
  ({ collection, tags, phases, ...spec }) => ({
    collection,
    tags,
    spec: { ...spec, phases: phases.map(withoutLastLineBreaks) },
  }),
);
