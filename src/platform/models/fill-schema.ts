/**
 * Fills a JSON Schema with a value that validates: the offline model's answer where an output shape is demanded.
 *
 * Knows type, enum, const, required, lengths, ranges, items, local $ref, allOf, and the first of anyOf and oneOf. What
 * else a schema may say (not, if, contains, a pattern that no example meets) is not looked at; the caller validates.
 */
import { isRecord } from '../core/record.ts';
import { fillBoolean, fillEnum, fillNumber, fillString, numberOr, type Facts, type SchemaNode } from './fill-values.ts';

/** Past these a schema that demands ever more of itself gets nulls, which do not validate, instead of all memory. */
const MAX_NODES = 2_000;
const MAX_DEPTH = 30;
/** Optional properties and items are left out from this depth on. */
const GENEROUS_DEPTH = 4;
const LIST_ITEMS = 3;
const RANGES = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isText = (value: unknown): value is string => typeof value === 'string';

/** Splits a reference: `#/$defs/a~1b` becomes `$defs`, `a/b`. */
function pointerSteps(reference: string): string[] {
  try {
    const steps = decodeURIComponent(reference.replace(/^#\/?/, '')).split('/').filter(Boolean);
    return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return ['']; // A malformed escape points nowhere.
  }
}

const merge = (a: SchemaNode, b: SchemaNode): SchemaNode => ({
  ...a,
  ...b,
  ...(isRecord(a.properties) && isRecord(b.properties) ? { properties: { ...a.properties, ...b.properties } } : {}),
  ...(a.required && b.required ? { required: [...new Set([...listOf(a.required), ...listOf(b.required)])] } : {}),
});

/** @returns the first type that is not null; without one, the type that the other keywords speak of */
function typeOf(node: SchemaNode): string {
  const types = [node.type].flat().filter(isText);
  const type = types.find((each) => each !== 'null') ?? types[0];
  if (type) return type;
  if (node.properties || node.required || node.minProperties) return 'object';
  if (node.items || node.prefixItems || node.minItems) return 'array';
  return RANGES.some((key) => key in node) ? 'number' : 'string';
}

/** @param schema a JSON Schema, perhaps a tenant's: nothing in it is trusted to be well-formed or to end */
export function fillSchema(schema: unknown, facts: Facts): unknown {
  let visited = 0;

  function lookUp(reference: string): unknown {
    let at: unknown = schema;
    for (const step of pointerSteps(reference)) {
      at = typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as SchemaNode)[step] : undefined;
    }
    return at;
  }

  /** Puts the references and alternatives of a node into it. */
  function settle(given: unknown): SchemaNode {
    let node: SchemaNode = isRecord(given) ? given : {};
    for (let hops = 0; hops < 20; hops += 1) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = node;
      const choices = [anyOf, oneOf]
        .map(listOf)
        .map((list) => list.find((each) => !isRecord(each) || each.type !== 'null') ?? list[0]);
      const parts = [
        isText($ref) && $ref.startsWith('#') ? lookUp($ref) : undefined,
        ...listOf(allOf),
        ...choices,
      ].filter(isRecord);
      if (parts.length === 0) return rest;
      node = parts.reduce(merge, rest);
    }
    return {};
  }

  /** @param nth counts the items of the list that this is inside, so that they differ */
  function fill(given: unknown, name: string, depth: number, nth: number): unknown {
    visited += 1;
    if (visited > MAX_NODES || depth > MAX_DEPTH) return null;
    const node = settle(given);
    if ('const' in node) return node.const;
    const choices = listOf(node.enum);
    if (choices.length > 0) return fillEnum(choices, nth, facts);
    const type = typeOf(node);
    switch (type) {
      case 'object':
        return fillObject(node, depth, nth);
      case 'array':
        return fillArray(node, name, depth);
      case 'integer':
      case 'number':
        return fillNumber(node, type === 'integer', name, nth, facts);
      case 'boolean':
        return fillBoolean(name, nth, facts);
      case 'null':
        return null;
      default:
        return fillString(node, name, nth, facts);
    }
  }

  function fillArray(node: SchemaNode, name: string, depth: number): unknown[] {
    const tuple = [node.prefixItems, node.items].find(Array.isArray) ?? [];
    const rest = Array.isArray(node.items) ? node.additionalItems : node.items;
    const isGenerous = depth < GENEROUS_DEPTH && rest !== false;
    const wanted = Math.max(
      numberOr(node.minItems, 0),
      tuple.length,
      isGenerous ? Math.min(LIST_ITEMS, facts.sentences.length) : 0,
    );
    const count = Math.min(wanted, numberOr(node.maxItems, Infinity), MAX_NODES);
    const items: unknown[] = [];
    const seen = new Set<string>();
    // Items that are alike count once where they must differ, hence there are more tries than items.
    for (let nth = 0; items.length < count && nth < count * 3; nth += 1) {
      const item = fill(tuple[items.length] ?? rest, name, depth + 1, nth);
      const key = node.uniqueItems === true ? JSON.stringify(item) : String(nth);
      if (!seen.has(key)) items.push(item);
      seen.add(key);
    }
    return items;
  }

  function fillObject(node: SchemaNode, depth: number, nth: number): SchemaNode {
    const properties = isRecord(node.properties) ? node.properties : {};
    const schemaOf = (key: string) => (Object.hasOwn(properties, key) ? properties[key] : node.additionalProperties);
    const required = listOf(node.required).filter(isText);
    const least = Math.min(numberOr(node.minProperties, 0), MAX_NODES);
    const known = [...new Set([...required, ...Object.keys(properties)])].filter(
      (key) => schemaOf(key) !== false || required.includes(key),
    );
    const names = known.slice(0, Math.max(depth < GENEROUS_DEPTH ? Infinity : least, required.length));
    for (let extra = 1; names.length < least; extra += 1) names.push(`field_${extra}`);
    const most = Math.max(required.length, numberOr(node.maxProperties, Infinity));
    // The object is made from entries, so that a property called __proto__ is a property.
    return Object.fromEntries(names.slice(0, most).map((key) => [key, fill(schemaOf(key), key, depth + 1, nth)]));
  }

  return fill(schema, '', 0, 0);
}
