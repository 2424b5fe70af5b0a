/** Makes JSON Schemas of the shapes of manifests, for editors: they complete fields, and mark what is wrong, as it is typed. */
import { z } from 'zod';

/** @returns a JSON Schema of draft 7, which every editor knows */
export const schemaOf = (shape: z.ZodType): unknown =>
  z.toJSONSchema(shape, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
