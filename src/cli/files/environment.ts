/** A file names a secret by the variable of the environment that has it: `{ env: NAME }`. */
import { fieldsOf, isRecord } from '../../platform/core/record.ts';

/** @returns the variables that a file names */
export function environmentNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(environmentNames);
  if (!isRecord(value)) return [];
  const { env } = fieldsOf(value);
  if (typeof env === 'string' && Object.keys(value).length === 1) return [env];
  return Object.values(value).flatMap(environmentNames);
}
