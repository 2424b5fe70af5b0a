/**
 * Checks what a model sends against a tool's JSON Schema, before the tool sees it.
 *
 * Schemas come from tenants and MCP servers, so compiling and checking must stay cheap whatever they say: bounded
 * size and depth, references only within the schema and never in a circle (a chain of doubled references would take
 * for ever), patterns in linear time. A schema that breaks a rule is refused, not trimmed.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { Tool } from './model.ts';

const MAX_SCHEMA_BYTES = 64 * 1_024;
const MAX_DEPTH = 40;
/** Nodes after every reference is replaced by what it refers to: the cost of one check. */
const MAX_NODES = 10_000;
const MAX_CACHED = 500;
const MAX_ERRORS_TOLD = 5;
const MAX_MESSAGE = 1_000;

type Schema = Record<string, unknown>;
type Compiled = { validate: ValidateFunction } | { problem: string };

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

const resolvePointer = (root: Schema, pointer: string): unknown =>
  decodeURIComponent(pointer.slice(1))
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, part) => (isObject(node) && Object.hasOwn(node, part) ? node[part] : undefined), root);

/** @throws Error naming the first rule that the schema breaks */
const checkShape = (root: Schema): void => {
  let nodes = 0;
  const visit = (node: unknown, depth: number, open: readonly unknown[]): void => {
    if (!isObject(node)) return;
    if (open.includes(node)) throw new Error('refers to itself');
    if (depth > MAX_DEPTH) throw new Error(`is nested deeper than ${MAX_DEPTH} levels`);
    if ((nodes += 1) > MAX_NODES) throw new Error('is too large with its references resolved');
    const inside = [...open, node];
    // A property may have one of these names: then its value is a schema, not a string.
    for (const name of ['$dynamicRef', '$recursiveRef', ...(node === root ? [] : ['$id'])]) {
      if (typeof node[name] === 'string') throw new Error(`uses ${name}`);
    }
    if (typeof node['$ref'] === 'string') {
      if (!/^#(\/|$)/.test(node['$ref'])) throw new Error(`refers to ${node['$ref']}, outside of itself`);
      visit(resolvePointer(root, node['$ref']), depth + 1, inside);
    }
    for (const child of Object.values(node)) visit(child, depth + 1, inside);
  };
  visit(root, 0, []);
};

/** RE2 syntax: no look-around and no back-references, hence no pattern that takes exponential time. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // ajv tells patterns apart by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: '' },
);

const OPTIONS = { strict: false, validateFormats: false, logger: false } as const;

/** Knows what a schema may look like. Used to check them all, because it takes 20 ms to make. */
const dialect = new Ajv2020(OPTIONS);

const compile = (parameters: Schema, text: string): Compiled => {
  try {
    if (Buffer.byteLength(text) > MAX_SCHEMA_BYTES) throw new Error(`is larger than ${MAX_SCHEMA_BYTES} bytes`);
    if (parameters['type'] !== 'object') throw new Error('is not of type object');
    checkShape(parameters);
    const { $schema: _dialect, ...schema } = parameters;
    if (!dialect.validateSchema(schema)) throw new Error(`is not valid: ${dialect.errorsText()}`);
    // One instance a schema: an instance remembers every `$id` it has met, and tenants may use the same ones.
    const ajv = new Ajv2020({
      ...OPTIONS,
      meta: false,
      validateSchema: false,
      allErrors: true,
      inlineRefs: false,
      code: { regExp: linearRegExp },
    });
    return { validate: ajv.compile(schema) };
  } catch (error) {
    return { problem: `the schema ${(error as Error).message}` };
  }
};

/** By the text of the schema: custom tools are read anew for each run. The first is the one unused for longest. */
const cache = new Map<string, Compiled>();

const compiled = (parameters: Schema): Compiled => {
  const text = JSON.stringify(parameters);
  const known = cache.get(text) ?? compile(parameters, text);
  cache.delete(text);
  cache.set(text, known);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
  return known;
};

/** @returns why this schema cannot be a tool's, for whoever writes the tool */
export const schemaProblem = (parameters: Schema): string | undefined => {
  const result = compiled(parameters);
  return 'problem' in result ? result.problem : undefined;
};

const explain = ({ instancePath, message, params }: ErrorObject): string => {
  const detail: unknown = params['additionalProperty'] ?? params['allowedValues'];
  return `${instancePath.slice(1) || 'arguments'} ${message}${detail ? ` (${JSON.stringify(detail)})` : ''}`;
};

/** @returns what is wrong with the arguments, for the model to read; nothing when the tool may run */
export const checkArguments = (
  { slug, parameters }: Pick<Tool, 'slug' | 'parameters'>,
  args: unknown,
): string | undefined => {
  const result = compiled(parameters);
  if ('problem' in result) return `${slug} cannot be called: ${result.problem}`;
  if (result.validate(args)) return undefined;
  const errors = (result.validate.errors ?? []).slice(0, MAX_ERRORS_TOLD).map(explain);
  return `bad arguments for ${slug}: ${errors.join('; ')}`.slice(0, MAX_MESSAGE);
};
