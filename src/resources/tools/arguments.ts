/** Checks what a model sends against a tool's JSON Schema, before the tool sees it. */
import { checkValue, schemaProblem as anySchemaProblem } from '../../platform/core/json-schema.ts';
import type { Tool } from './model.ts';

const MAX_MESSAGE = 1_000;

/** @returns why this schema cannot be a tool's, for whoever writes the tool */
export const schemaProblem = (parameters: Tool['parameters']): string | undefined =>
  anySchemaProblem(parameters, { objectOnly: true });

/** @returns what is wrong with the arguments, for the model to read; nothing when the tool may run */
export const checkArguments = (
  { slug, parameters }: Pick<Tool, 'slug' | 'parameters'>,
  args: unknown,
): string | undefined => {
  const problem = schemaProblem(parameters);
  if (problem) return `${slug} cannot be called: ${problem}`;
  const wrong = checkValue(parameters, args, 'arguments');
  return wrong && `bad arguments for ${slug}: ${wrong}`.slice(0, MAX_MESSAGE);
};
