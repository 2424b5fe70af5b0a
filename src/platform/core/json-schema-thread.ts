/** What a thread does of `schema-checks.ts`. */
import { checkValue, schemaProblem } from './json-schema.ts';

export const schemaJob = ({ schema, objectOnly }: { schema: Record<string, unknown>; objectOnly: boolean }) =>
  schemaProblem(schema, { objectOnly });

export const valueJob = ({ schema, value, name }: { schema: Record<string, unknown>; value: unknown; name: string }) =>
  checkValue(schema, value, name);
