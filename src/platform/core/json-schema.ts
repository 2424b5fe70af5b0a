/**
 * Checks values against JSON Schemas that strangers wrote: tenants, MCP servers, models.
 *
 * Compiling and checking must stay cheap whatever such a schema says, so it is bounded in size and depth, refers only
 * within itself and never in a circle (a chain of doubled references would take for ever), and has patterns in linear
 * time. A schema that breaks a rule is refused, not trimmed. Large ones still take their time: outside of this folder,
 * `schema-checks.ts` is what to call.
 */
import type * as Ajv from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { messageOf } from './causes.ts';
import { canonical, isTooDeep, TOO_DEEP } from './json.ts';
import { present } from './present.ts';
import { whenUsed } from './when-used.ts';

const validator = whenUsed<typeof Ajv>('ajv/dist/2020.js');

const MAX_SCHEMA_BYTES = 64 * 1_024;
const MAX_DEPTH = 40;
/** Nodes are counted after every reference has been replaced by what it refers to. */
const MAX_NODES = 10_000;
/** One check costs at worst the nodes of the schema times the nodes of the value. */
const MAX_WORK = 20_000_000;
/** Up to here every error is looked for. Beyond it their number could fill the memory, so only the first one is. */
const MAX_THOROUGH_WORK = 200_000;
const MAX_CACHED = 500;
const MAX_ERRORS_TOLD = 5;
const MAX_MESSAGE = 1_000;

export type CompiledSchema = Record<string, unknown>;
interface Usable {
  nodes: number;
  isValid: Ajv.ValidateFunction;
  /**
   * This is the same check, except that it goes on after the first error. It is made on first use, since most values
   * are right.
   */
  findErrors: () => Ajv.ValidateFunction;
}
type Compiled = Usable | { problem: string };

const isObject = (value: unknown): value is CompiledSchema => typeof value === 'object' && value !== null;

const resolvePointer = (root: CompiledSchema, pointer: string): unknown =>
  decodeURIComponent(pointer.slice(1))
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, part) => (isObject(node) && Object.hasOwn(node, part) ? node[part] : undefined), root);

/**
 * @returns how many nodes it has
 * @throws Error naming the first rule that the schema breaks
 */
const checkShape = (root: CompiledSchema): number => {
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
    // An asynchronous schema answers with a promise, which is truthy whatever becomes of it.
    if (typeof node['$async'] === 'boolean') throw new Error('uses $async');
    if (typeof node['$ref'] === 'string') {
      if (!/^#(\/|$)/.test(node['$ref'])) throw new Error(`refers to ${node['$ref']}, outside of itself`);
      visit(resolvePointer(root, node['$ref']), depth + 1, inside);
    }
    for (const child of Object.values(node)) visit(child, depth + 1, inside);
  };
  visit(root, 0, []);
  return nodes;
};

/**
 * Patterns have RE2 syntax, which has no look-around and no back-references and therefore never takes exponential time.
 */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // ajv tells patterns apart by their text, so each needs its own.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: '' },
);

const OPTIONS = { strict: false, validateFormats: false, logger: false } as const;

/** The dialect says what a schema may look like. One instance checks all of them, because it takes 20 ms to make. */
let madeDialect: Ajv.Ajv2020 | undefined;
const dialect = (): Ajv.Ajv2020 => (madeDialect ??= new (validator().Ajv2020)(OPTIONS));

/**
 * Each schema gets an instance of its own, because an instance remembers every `$id` it has met and tenants may use the
 * same ones.
 */
const build = (schema: CompiledSchema, allErrors: boolean): Ajv.ValidateFunction => {
  const code = { regExp: linearRegExp };
  const ajv = new (validator().Ajv2020)({
    ...OPTIONS,
    meta: false,
    validateSchema: false,
    allErrors,
    inlineRefs: false,
    code,
  });
  // The keyword that ajv brings compares each item with every other one, which takes quadratic time.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    error: { message: 'must NOT have duplicate items' },
    validate: (isOn: boolean, items: unknown[]) => !isOn || new Set(items.map(canonical)).size === items.length,
  });
  return ajv.compile(schema);
};

const compile = (given: CompiledSchema, text: string): Compiled => {
  try {
    if (Buffer.byteLength(text) > MAX_SCHEMA_BYTES) throw new Error(`is larger than ${MAX_SCHEMA_BYTES} bytes`);
    const nodes = checkShape(given);
    const { $schema: _dialect, ...schema } = given;
    if (!dialect().validateSchema(schema)) throw new Error(`is not valid: ${dialect().errorsText()}`);
    let thorough: Ajv.ValidateFunction | undefined;
    return { nodes, isValid: build(schema, false), findErrors: () => (thorough ??= build(schema, true)) };
  } catch (error) {
    return { problem: `the schema ${messageOf(error)}`.slice(0, MAX_MESSAGE) };
  }
};

/**
 * Compiled schemas are kept by their text, because those of tenants are read anew each time. The first entry is the one
 * that was unused for longest.
 */
const cache = new Map<string, Compiled>();

const compiled = (schema: CompiledSchema): Compiled => {
  if (isTooDeep(schema)) return { problem: `the schema is ${TOO_DEEP}` };
  const text = JSON.stringify(schema);
  const known = cache.get(text) ?? compile(schema, text);
  cache.delete(text);
  cache.set(text, known);
  if (cache.size > MAX_CACHED) cache.delete(present(cache.keys().next().value));
  return known;
};

/** @returns why this cannot be a schema here, for whoever writes it */
export function schemaProblem(schema: CompiledSchema, { objectOnly = false } = {}): string | undefined {
  if (objectOnly && schema['type'] !== 'object') return 'the schema is not of type object';
  const result = compiled(schema);
  return 'problem' in result ? result.problem : undefined;
}

/**
 * @param name what the value is called where the whole of it is wrong
 * @returns what is wrong with the value, or with the schema where that cannot be used; its length is bounded
 */
export function checkValue(schema: CompiledSchema, value: unknown, name: string): string | undefined {
  const result = compiled(schema);
  if ('problem' in result) return `${name} cannot be checked: ${result.problem}`.slice(0, MAX_MESSAGE);
  if (isTooDeep(value)) return `${name} is ${TOO_DEEP}`;
  const work = result.nodes * countNodes(value, MAX_WORK / result.nodes);
  if (work > MAX_WORK) return `${name} is too large to be checked against its schema`;
  if (result.isValid(value)) return undefined;
  const failed = work > MAX_THOROUGH_WORK ? result.isValid : result.findErrors();
  if (failed !== result.isValid) failed(value);
  const told = (failed.errors ?? []).slice(0, MAX_ERRORS_TOLD).map((error) => explain(error, name));
  return told.join('; ').slice(0, MAX_MESSAGE);
}

/** Counts objects, arrays and what is in them, and stops above `enough`. */
function countNodes(root: unknown, enough: number): number {
  let nodes = 1;
  const open = [root];
  while (open.length > 0 && nodes <= enough) {
    const value = open.pop();
    if (!isObject(value)) continue;
    const children = Object.values(value);
    nodes += children.length;
    if (nodes <= enough) for (const child of children) open.push(child);
  }
  return nodes;
}

function explain({ instancePath, message, params }: Ajv.ErrorObject, name: string): string {
  const detail: unknown = params['additionalProperty'] ?? params['allowedValues'];
  return `${instancePath.slice(1) || name} ${message}${detail ? ` (${JSON.stringify(detail)})` : ''}`;
}
