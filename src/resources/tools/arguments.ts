/** Checks what a model sends against a tool's JSON Schema before the tool sees it. */
import { findSchemaProblem, findValueProblem } from '../../platform/core/schema-checks.ts';
import { untoldParts } from '../../platform/models/tool-schemas.ts';
import type { Tool } from './model.ts';

const MAX_MESSAGE = 1_000;

/** @returns why this schema cannot be a tool's, for whoever writes the tool */
export const schemaProblem = (parameters: Tool['parameters']): Promise<string | undefined> =>
  findSchemaProblem(parameters, { objectOnly: true });

/** @returns what is wrong with the arguments, for the model to read; undefined where the tool may run */
export const checkArguments = async (
  { slug, parameters }: Pick<Tool, 'slug' | 'parameters'>,
  args: unknown,
): Promise<string | undefined> => {
  const problem = await schemaProblem(parameters);
  if (problem) return `${slug} cannot be called: ${problem}`;
  const wrong = await findValueProblem(parameters, args, 'arguments');
  return wrong && `bad arguments for ${slug}: ${wrong}`.slice(0, MAX_MESSAGE);
};

/** @returns why models are told of a tool's arguments in another form, or what of them they are not told */
export const adaptationOf = ({ adapted, parameters }: Pick<Tool, 'adapted' | 'parameters'>): string | undefined =>
  adapted ?? untoldParts(parameters);
