/**
 * Fills a JSON Schema with a value that validates: the offline model's answer if an output shape is demanded.
 *
 * Knows type, enum, const, required, lengths, ranges, items, local $ref, allOf, and the first of anyOf and oneOf. The
 * rest of a schema (not, if, contains, a pattern that no example meets) is ignored; the caller validates.
 */
import { isRecord } from '../../core/record.ts';
import {
  createSchemaReader,
  isText,
  listFrom,
  numberOr,
  typeOfNode,
  type SchemaNode,
  type SchemaReader,
} from './schema-node.ts';

/** Past these a schema that demands ever more of itself gets nulls, which do not validate, instead of all memory. */
const MAX_NODES = 2_000;
const MAX_DEPTH = 30;
/** Optional properties and items are left out from this depth on. */
const GENEROUS_DEPTH = 4;

/** One place of the value that is being filled. */
export interface Field {
  /** The name of the property, or of the list that holds the item. */
  name: string;
  /** The name of the object or list around it, '' at the top. */
  parent: string;
  node: SchemaNode;
  /** Counts the items of the list that this is inside, so that they differ. */
  nth: number;
  /** The values beside it in the same object, as far as they are filled. */
  siblings: Readonly<Record<string, unknown>>;
  /** The names of all fields of that object. */
  beside: readonly string[];
  /** The object holds the decision of a judge. */
  isVerdict: boolean;
  /** The only field of the whole value. */
  isSole: boolean;
}

/** Makes the single values. */
export interface FieldFiller {
  text(field: Field): string;
  number(field: Field, isInteger: boolean): number;
  boolean(field: Field): boolean;
  choice(field: Field, values: readonly unknown[]): unknown;
  /** @returns how many items a list should have, as far as the schema leaves it open */
  count(field: Field, items: SchemaNode): number;
  /** @returns values for fields of an object that belong together, by name; those that do not fit are not used */
  presets(parent: string, nth: number, properties: SchemaNode): Readonly<Record<string, unknown>>;
  /** @returns a whole value of an earlier step that has the shape asked for */
  whole(fits: (value: unknown) => boolean): unknown;
}

/** Names of fields that decide over somebody's work. */
export const VERDICT_FIELD = /approv|accept|passed|lgtm|decision|verdict|^ok$|^is_?valid$/i;
/** These are filled before the others, because what stands in the others depends on them. */
const FIRST = ['path', 'filename', 'file', 'kind', 'type', 'method', 'name'];

export function fillSchema(
  schema: unknown,
  filler: FieldFiller,
  reader: SchemaReader = createSchemaReader(schema),
): unknown {
  let visited = 0;
  const { settle, fits } = reader;

  const reused = filler.whole((value) => fits(schema, value));
  if (reused !== undefined) return reused;

  function fill(given: unknown, field: Omit<Field, 'node'>, depth: number): unknown {
    visited += 1;
    if (visited > MAX_NODES || depth > MAX_DEPTH) return null;
    const node = settle(given);
    const place = { ...field, node };
    if ('const' in node) return node.const;
    const choices = listFrom(node.enum);
    if (choices.length > 0) return filler.choice(place, choices);
    const type = typeOfNode(node);
    switch (type) {
      case 'object':
        return fillObject(place, depth);
      case 'array':
        return fillArray(place, depth);
      case 'integer':
      case 'number':
        return filler.number(place, type === 'integer');
      case 'boolean':
        return filler.boolean(place);
      case 'null':
        return null;
      default:
        return filler.text(place);
    }
  }

  function fillArray(field: Field, depth: number): unknown[] {
    const { node } = field;
    const tuple = [node.prefixItems, node.items].find(Array.isArray) ?? [];
    const rest = Array.isArray(node.items) ? node.additionalItems : node.items;
    const isGenerous = depth < GENEROUS_DEPTH && rest !== false;
    const wanted = Math.max(
      numberOr(node.minItems, 0),
      tuple.length,
      isGenerous ? filler.count(field, settle(rest)) : 0,
    );
    const count = Math.min(wanted, numberOr(node.maxItems, Infinity), MAX_NODES);
    const items: unknown[] = [];
    const seen = new Set<string>();
    // Items that are alike count once if they must differ, hence there are more tries than items.
    for (let nth = 0; items.length < count && nth < count * 3; nth += 1) {
      const item = fill(
        tuple[items.length] ?? rest,
        { ...field, nth, siblings: field.siblings, isSole: false },
        depth + 1,
      );
      const key = node.uniqueItems === true ? JSON.stringify(item) : String(nth);
      if (!seen.has(key)) items.push(item);
      seen.add(key);
    }
    return items;
  }

  function fillObject({ node, name, nth }: Field, depth: number): SchemaNode {
    const properties = isRecord(node.properties) ? node.properties : {};
    const schemaOf = (key: string) => (Object.hasOwn(properties, key) ? properties[key] : node.additionalProperties);
    const required = listFrom(node.required).filter(isText);
    const least = Math.min(numberOr(node.minProperties, 0), MAX_NODES);
    const known = [...new Set([...required, ...Object.keys(properties)])].filter(
      (key) => schemaOf(key) !== false || required.includes(key),
    );
    const names = known.slice(0, Math.max(depth < GENEROUS_DEPTH ? Infinity : least, required.length));
    for (let extra = 1; names.length < least; extra += 1) names.push(`field_${extra}`);
    const most = Math.max(required.length, numberOr(node.maxProperties, Infinity));
    const keys = names.slice(0, most);

    const presets = filler.presets(name, nth, properties);
    const isVerdict = keys.some((key) => VERDICT_FIELD.test(key));
    const siblings: Record<string, unknown> = {};
    const values = new Map<string, unknown>();
    const isFirst = (key: string) => FIRST.includes(key.toLowerCase());
    for (const key of [...keys.filter(isFirst), ...keys.filter((each) => !isFirst(each))]) {
      const preset = Object.hasOwn(presets, key) ? presets[key] : undefined;
      const isSole = depth === 0 && keys.length === 1;
      const value =
        preset !== undefined && fits(schemaOf(key), preset)
          ? preset
          : fill(schemaOf(key), { name: key, parent: name, nth, siblings, beside: keys, isVerdict, isSole }, depth + 1);
      values.set(key, value);
      if (key !== '__proto__') siblings[key] = value;
    }
    // The object is made from entries, so that a property called __proto__ is a property.
    return Object.fromEntries(keys.map((key) => [key, values.get(key)]));
  }

  return fill(schema, { name: '', parent: '', nth: 0, siblings: {}, beside: [], isVerdict: false, isSole: false }, 0);
}
