/**
 * Schemas of tools as every provider takes them. MCP servers and people write any JSON Schema; OpenAI refuses the whole
 * request for an object without `properties` and for a choice at the root, Anthropic for a list of `items`, Gemini for
 * references. What is changed here is how the model is told of the arguments; what it sends is checked against the tool's
 * own schema.
 */
import { fieldsOf, isRecord } from '../core/record.ts';
import { wireArgument } from './wire-name.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A reference within itself is told so far, and then as anything. */
const DEEPEST = 8;
/** References can make a schema as large as they like; what is beyond is told as anything. */
const MAX_NODES = 20_000;
const CHOICES = ['anyOf', 'oneOf', 'allOf'] as const;
/** Of all choices of the root the model is told the arguments, but not which of them belong together. */
const LOST_AT_ROOT = ['anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum'] as const;
/** These say nothing of what a value may be. */
const ANNOTATIONS = new Set([
  'description',
  'title',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
]);
/** Fields whose value is no schema, whatever it looks like. */
const VALUES = new Set(['const', 'default', 'enum', 'examples', 'type']);

/** @returns a schema of an object, without references, with `properties`, and no choice at its root */
export const toolSchema = (schema: Schema): Schema => toWireSchema(schema).schema;

interface WireSchema {
  schema: Schema;
  /** The names of arguments that providers refuse, and those told instead. */
  wireNames: ReadonlyMap<string, string>;
  /** The parts that the model is not told, because no form of them is taken by every provider. */
  lost: ReadonlySet<string>;
}

/** Does what `toolSchema` does. */
export function toWireSchema(schema: Schema): WireSchema {
  const walk: Walk = { root: schema, wireNames: new Map(), lost: new Set(), nodes: 0 };
  const root = atRoot(plain(schema, walk, []), walk.lost);
  const properties = isRecord(root.properties) ? root.properties : {};
  return { schema: { ...root, type: 'object', properties }, wireNames: walk.wireNames, lost: walk.lost };
}

/** @returns what a model is not told of the arguments; undefined if it is told all of it */
export function untoldParts(schema: Schema): string | undefined {
  const { lost } = toWireSchema(schema);
  return lost.size === 0 ? undefined : `models are not told of ${[...lost].join(', ')}`;
}

interface Walk {
  readonly root: Schema;
  readonly wireNames: Map<string, string>;
  readonly lost: Set<string>;
  nodes: number;
}

/** @param seen the references on the way here */
function plain(value: unknown, walk: Walk, seen: readonly string[]): Schema {
  walk.nodes += 1;
  if (walk.nodes > MAX_NODES) walk.lost.add('what is beyond the size of a schema');
  if (!isRecord(value) || walk.nodes > MAX_NODES) return {};
  const { $ref, $defs: _, definitions: __, $schema: ___, $id: ____, ...own } = value;
  if (typeof $ref === 'string') {
    const isOver = seen.length >= DEEPEST || seen.filter((each) => each === $ref).length > 1;
    const target = isOver ? undefined : targetOf($ref, walk.root);
    if (target === undefined) walk.lost.add(`what "${$ref}" refers to`);
    for (const name of Object.keys(own)) if (!ANNOTATIONS.has(name)) walk.lost.add(`"${name}" beside a reference`);
    const { description } = own;
    return { ...plain(target, walk, [...seen, $ref]), ...(typeof description === 'string' && { description }) };
  }
  const nested = (field: unknown): unknown => {
    if (Array.isArray(field)) return field.map(nested);
    return isRecord(field) ? plain(field, walk, seen) : field;
  };
  const argument = (name: string): string => {
    const wire = wireArgument(name);
    if (wire !== name) walk.wireNames.set(name, wire);
    return wire;
  };
  const arguments_ = (names: unknown): unknown =>
    Array.isArray(names) ? names.map((name: unknown) => (typeof name === 'string' ? argument(name) : name)) : names;
  const named = (fields: unknown, inner: (field: unknown, name: string) => unknown): unknown =>
    isRecord(fields)
      ? Object.fromEntries(Object.entries(fields).map(([name, each]) => [argument(name), inner(each, name)]))
      : fields;
  const entitled = (field: unknown, name: string): unknown => {
    const schema = nested(field);
    return argument(name) !== name && isRecord(schema) ? { title: name, ...schema } : schema;
  };
  const fields = Object.entries(own).map(([name, field]): [string, unknown] => {
    if (name === 'required') return [name, arguments_(field)];
    if (name === 'dependentRequired') return [name, named(field, arguments_)];
    if (VALUES.has(name)) return [name, field];
    if (name === 'properties') return [name, named(field, entitled)];
    if (name === 'dependentSchemas') return [name, named(field, nested)];
    if (name === 'patternProperties' && isRecord(field))
      return [name, Object.fromEntries(Object.entries(field).map(([pattern, each]) => [pattern, nested(each)]))];
    return [name, nested(field)];
  });
  const all = Object.fromEntries(fields);
  for (const name of ['items', 'prefixItems']) {
    const list: unknown = all[name];
    if (Array.isArray(list) && list.length > 1) walk.lost.add(`the order in "${name}"`);
  }
  return withNull(withOneItem(withLimits(all)));
}

/** @returns what a reference within the schema leads to */
function targetOf(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? at[Number(name)] : fieldsOf(at)[name];
  }
  return at;
}

/** Draft 4 and 7 have a list of `items`, draft 2020-12 `prefixItems`; every provider knows items that may be of several kinds. */
function withOneItem({ items, prefixItems, additionalItems: _, ...schema }: Schema): Schema {
  const list = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : undefined;
  if (!list) return items === undefined ? schema : { ...schema, items };
  const kinds = [...new Map(list.map((each: unknown) => [JSON.stringify(each), each])).values()];
  return { ...schema, items: kinds.length === 1 ? kinds[0] : { anyOf: kinds } };
}

/** Draft 4 says of a limit whether it is exclusive; later ones have a limit of that name. */
function withLimits(schema: Schema): Schema {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  const limit = (name: string, value: unknown, exclusive: unknown): Schema => {
    const exclusiveName = `exclusive${name.replace(/^m/, 'M')}`;
    if (typeof exclusive !== 'boolean')
      return {
        ...(value !== undefined && { [name]: value }),
        ...(exclusive !== undefined && { [exclusiveName]: exclusive }),
      };
    if (value === undefined) return {};
    return exclusive ? { [exclusiveName]: value } : { [name]: value };
  };
  return { ...rest, ...limit('minimum', minimum, exclusiveMinimum), ...limit('maximum', maximum, exclusiveMaximum) };
}

/** OpenAPI 3.0 says `nullable`. */
function withNull({ nullable, ...schema }: Schema): Schema {
  const { type, enum: values } = schema;
  if (nullable !== true || typeof type !== 'string') return schema;
  const all: readonly unknown[] = Array.isArray(values) ? values : [];
  const isClosed = all.length > 0 && !all.includes(null);
  return { ...schema, type: [type, 'null'], ...(isClosed && { enum: [...all, null] }) };
}

/** Puts the choices of the root into one object: all of their properties, of which those are required that all require. */
function atRoot(schema: Schema, lost: Set<string>): Schema {
  for (const name of LOST_AT_ROOT) if (name in schema) lost.add(`"${name}" at the root`);
  const { anyOf, oneOf, allOf, not: _, if: __, then: ___, else: ____, enum: _____, ...own } = schema;
  const choices = { anyOf, oneOf, allOf };
  return CHOICES.reduce<Schema>((merged, name) => {
    const parts = choices[name];
    return Array.isArray(parts)
      ? merge(
          merged,
          parts.filter(isRecord).map((part) => atRoot(part, lost)),
          name === 'allOf',
        )
      : merged;
  }, own);
}

function merge(own: Schema, parts: readonly Schema[], isEach: boolean): Schema {
  const propertiesOf = ({ properties }: Schema) => (isRecord(properties) ? properties : {});
  const requiredOf = ({ required }: Schema): unknown[] => (Array.isArray(required) ? required : []);
  const properties: Record<string, unknown> = { ...propertiesOf(own) };
  for (const part of parts) {
    for (const [name, schema] of Object.entries(propertiesOf(part))) {
      const before = properties[name];
      const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(schema);
      properties[name] = isOther && !isEach ? either(before, schema) : schema;
    }
  }
  const required = parts.reduce<unknown[] | undefined>((all, part) => {
    if (all === undefined) return requiredOf(part);
    return isEach ? [...all, ...requiredOf(part)] : all.filter((name) => requiredOf(part).includes(name));
  }, undefined);
  // What one of them forbids another may allow.
  const { additionalProperties: _, ...rest } = own;
  return { ...rest, properties, required: [...new Set([...requiredOf(own), ...(required ?? [])])] };
}

function either(one: unknown, other: unknown): Schema {
  const { anyOf, ...rest } = fieldsOf(one);
  const kinds: readonly unknown[] = Array.isArray(anyOf) && Object.keys(rest).length === 0 ? anyOf : [one];
  return { anyOf: [...kinds, other] };
}
