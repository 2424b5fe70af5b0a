/**
 * Checks schemas and values without holding up other requests: checks that are sure to be quick run at once, the
 * others, which may take seconds, run in a thread.
 */
import { runInThread, ThreadLimitError, type Job } from '../threads/threads.ts';
import { isLargerThan, isTooDeep } from './json.ts';
import { checkValue, schemaProblem, type CompiledSchema } from './json-schema.ts';
import type * as Thread from './json-schema-thread.ts';

/** Counted in characters, of a schema as of a value. */
const SMALL = 4_000;
/**
 * A pattern costs more than its length tells, to read and to match; a reference can make a schema as large as it likes.
 */
const IS_DEAR = /"(?:pattern|patternProperties|\$ref)":/;

/**
 * @returns whether the schema (or whatever contains schemas) and the values take a few milliseconds at most to check
 */
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

/** Does what `schemaProblem` does, and ends after a limited time. */
export async function findSchemaProblem(
  schema: CompiledSchema,
  { objectOnly = false } = {},
): Promise<string | undefined> {
  if (isTooDeep(schema) || isQuick(schema)) return schemaProblem(schema, { objectOnly });
  return runInThread(schemaJob, { schema, objectOnly }).catch(limitOf);
}

/** Does what `checkValue` does, and ends after a limited time. */
export async function findValueProblem(
  schema: CompiledSchema,
  value: unknown,
  name: string,
): Promise<string | undefined> {
  if (isTooDeep(schema) || isTooDeep(value) || isQuick(schema, value)) return checkValue(schema, value, name);
  return runInThread(valueJob, { schema, value, name }).catch((error: unknown) => `${name}: ${limitOf(error)}`);
}

/**
 * A check that exceeds its limits is a fault of the schema or the value, and is told as one; any other error is thrown
 * on.
 */
function limitOf(error: unknown): string {
  if (error instanceof ThreadLimitError) return error.message;
  throw error;
}
