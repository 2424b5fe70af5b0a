/**
 * Checks of schemas and values, for whoever has other work to do meanwhile. Those that are sure to be quick are done at
 * once, the others, which may take seconds, go to a thread.
 */
import { runInThread, ThreadLimitError, type Job } from '../threads/threads.ts';
import { isLargerThan, isTooDeep } from './json.ts';
import { checkValue, schemaProblem, type Schema } from './json-schema.ts';
import type * as Thread from './json-schema-thread.ts';

/** Characters of a schema, and of a value. */
const SMALL = 4_000;
/** A pattern costs more than it is long, to read and to match; a reference makes a schema as large as it likes. */
const IS_DEAR = /"(?:pattern|patternProperties|\$ref)":/;

/** Whether a schema, or what has schemas in it, takes some milliseconds at most to read, and the values to check. */
export const isQuick = (schema: unknown, ...values: readonly unknown[]): boolean =>
  [schema, ...values].every((each) => !isLargerThan(SMALL, each)) && !IS_DEAR.test(JSON.stringify(schema));

const job = <Name extends keyof typeof Thread>(
  name: Name,
  title: string,
): Job<Parameters<(typeof Thread)[Name]>[0], string | undefined> => ({
  name,
  title,
  timeoutMs: 10_000,
  module: new URL('./json-schema-thread.ts', import.meta.url),
});
const schemaJob = job('schemaJob', 'reading the schema');
const valueJob = job('valueJob', 'the check against its schema');

/** `schemaProblem`, with an end to the time it takes. */
export async function findSchemaProblem(schema: Schema, { objectOnly = false } = {}): Promise<string | undefined> {
  if (isTooDeep(schema) || isQuick(schema)) return schemaProblem(schema, { objectOnly });
  return runInThread(schemaJob, { schema, objectOnly }).catch(limitOf);
}

/** `checkValue`, with an end to the time it takes. */
export async function findValueProblem(schema: Schema, value: unknown, name: string): Promise<string | undefined> {
  if (isTooDeep(schema) || isTooDeep(value) || isQuick(schema, value)) return checkValue(schema, value, name);
  return runInThread(valueJob, { schema, value, name }).catch((error: unknown) => `${name}: ${limitOf(error)}`);
}

/** That it is too much is a fault of the schema or the value; anything else is none of theirs. */
function limitOf(error: unknown): string {
  if (error instanceof ThreadLimitError) return error.message;
  throw error;
}
