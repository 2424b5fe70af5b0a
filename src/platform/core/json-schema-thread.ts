/** The thread that `schema-checks.ts` starts runs this: it checks a schema, or a value against one. */
import { checkValue, schemaProblem } from './json-schema.ts';

export const schemaJob = ({ schema, objectOnly }: { schema: Record<string, unknown>; objectOnly: boolean }) =>
  schemaProblem(schema, { objectOnly });

export const valueJob = ({ schema, value, name }: { schema: Record<string, unknown>; value: unknown; name: string }) =>
  checkValue(schema, value, name);
