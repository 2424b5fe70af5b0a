/**
 * Schemas of tools as every provider takes them. MCP servers and people write any JSON Schema; OpenAI refuses the whole
 * request for an object without `properties` and for a choice at the root, Anthropic for a list of `items`, Gemini for
 * references. What is changed here is how the model is told of the arguments; what it sends is checked against the tool's
 * own schema.
 */
import { fieldsOf, isRecord } from '../core/record.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A reference within itself is told so far, and then as anything. */
const DEEPEST = 8;
const CHOICES = ['anyOf', 'oneOf', 'allOf'] as const;
/** Fields whose value is no schema, whatever it looks like. */
const VALUES = new Set(['const', 'default', 'enum', 'examples', 'required', 'type']);

/** @returns a schema of an object, without references, with `properties`, and no choice at its root */
export function toolSchema(schema: Schema): Schema {
  const root = atRoot(plain(schema, schema, []));
  return { ...root, type: 'object', properties: isRecord(root.properties) ? root.properties : {} };
}

/** @param seen the references on the way here */
function plain(value: unknown, root: Schema, seen: readonly string[]): Schema {
  if (!isRecord(value)) return {};
  const { $ref, $defs: _, definitions: __, $schema: ___, $id: ____, ...own } = value;
  if (typeof $ref === 'string') {
    const isOver = seen.length >= DEEPEST || seen.filter((each) => each === $ref).length > 1;
    const target = isOver ? undefined : targetOf($ref, root);
    const { description } = own;
    return { ...plain(target, root, [...seen, $ref]), ...(typeof description === 'string' && { description }) };
  }
  const nested = (field: unknown): unknown => {
    if (Array.isArray(field)) return field.map(nested);
    return isRecord(field) ? plain(field, root, seen) : field;
  };
  const named = (fields: unknown): unknown =>
    isRecord(fields) ? Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, nested(each)])) : fields;
  const fields = Object.entries(own).map(([name, field]): [string, unknown] => {
    if (VALUES.has(name)) return [name, field];
    if (name === 'properties' || name === 'patternProperties') return [name, named(field)];
    return [name, nested(field)];
  });
  return withNull(withOneItem(withLimits(Object.fromEntries(fields))));
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
function atRoot(schema: Schema): Schema {
  const { anyOf, oneOf, allOf, not: _, if: __, then: ___, else: ____, enum: _____, ...own } = schema;
  const choices = { anyOf, oneOf, allOf };
  return CHOICES.reduce<Schema>((merged, name) => {
    const parts = choices[name];
    return Array.isArray(parts) ? merge(merged, parts.filter(isRecord).map(atRoot), name === 'allOf') : merged;
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
