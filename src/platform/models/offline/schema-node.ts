/** Reads nodes of a JSON Schema that a stranger wrote: nothing in it is trusted to be well-formed or to end. */
import { RE2JS } from 're2js';
import { isRecord } from '../../core/record.ts';

export type SchemaNode = Record<string, unknown>;

const RANGES = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const MOST_HOPS = 20;
const MOST_VISITS = 5_000;
/** A pattern is tried on texts of this length at most, and a limited number of patterns is compiled for one schema. */
const LONGEST_PATTERN_TEXT = 60;
const MOST_PATTERNS = 200;

export const listFrom = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const isText = (value: unknown): value is string => typeof value === 'string';
export const numberOr = <T>(value: unknown, fallback: T): number | T => (typeof value === 'number' ? value : fallback);

/** @returns the first type that is not null; without one, the type that the other keywords speak of */
export function typeOfNode(node: SchemaNode): string {
  const types = [node.type].flat().filter(isText);
  const type = types.find((each) => each !== 'null') ?? types[0];
  if (type) return type;
  if (node.properties || node.required || node.minProperties) return 'object';
  if (node.items || node.prefixItems || node.minItems) return 'array';
  return RANGES.some((key) => key in node) ? 'number' : 'string';
}

function isNumberIn(node: SchemaNode, item: unknown): boolean {
  if (typeof item !== 'number' || 'multipleOf' in node) return false;
  if ('exclusiveMinimum' in node || 'exclusiveMaximum' in node) return false;
  const isInRange = item >= numberOr(node.minimum, -Infinity) && item <= numberOr(node.maximum, Infinity);
  return isInRange && (typeOfNode(node) === 'number' || Number.isInteger(item));
}

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
  ...(a.required && b.required ? { required: [...new Set([...listFrom(a.required), ...listFrom(b.required)])] } : {}),
});

export type SchemaReader = ReturnType<typeof createSchemaReader>;

export function createSchemaReader(schema: unknown) {
  const patterns = new Map<string, RE2JS | undefined>();

  function lookUp(reference: string): unknown {
    let at: unknown = schema;
    for (const step of pointerSteps(reference)) {
      at = typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as SchemaNode)[step] : undefined;
    }
    return at;
  }

  /** Puts the references and alternatives of a node into it. Of anyOf and oneOf the first alternative counts. */
  function settle(given: unknown): SchemaNode {
    let node: SchemaNode = isRecord(given) ? given : {};
    for (let hops = 0; hops < MOST_HOPS; hops += 1) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = node;
      const choices = [anyOf, oneOf]
        .map(listFrom)
        .map((list) => list.find((each) => !isRecord(each) || each.type !== 'null') ?? list[0]);
      const parts = [
        isText($ref) && $ref.startsWith('#') ? lookUp($ref) : undefined,
        ...listFrom(allOf),
        ...choices,
      ].filter(isRecord);
      if (parts.length === 0) return rest;
      node = parts.reduce(merge, rest);
    }
    return {};
  }

  function compile(pattern: string): RE2JS | undefined {
    if (!patterns.has(pattern) && patterns.size < MOST_PATTERNS) {
      let compiled: RE2JS | undefined;
      try {
        compiled = RE2JS.compile(pattern);
      } catch {
        // This engine does not know the pattern.
      }
      patterns.set(pattern, compiled);
    }
    return patterns.get(pattern);
  }

  /** @returns undefined if the pattern cannot be tried: it is broken, or the text too long */
  function matches(pattern: string, text: string): boolean | undefined {
    if (text.length > LONGEST_PATTERN_TEXT) return undefined;
    return compile(pattern)?.matcher(text).find();
  }

  /**
   * Tells whether a value of an earlier step may be used again. It knows the keywords of ordinary schemas; a node that
   * says anything else is filled afresh.
   */
  function fits(given: unknown, value: unknown): boolean {
    let visits = 0;
    const check = (each: unknown, item: unknown): boolean => {
      visits += 1;
      if (visits > MOST_VISITS) return false;
      const node = settle(each);
      if ('const' in node || 'not' in node || 'if' in node || 'contains' in node) return false;
      if (Array.isArray(node.enum)) return node.enum.includes(item);
      switch (typeOfNode(node)) {
        case 'string': {
          if (!isText(item)) return false;
          const { length } = [...item];
          const isInRange = length >= numberOr(node.minLength, 0) && length <= numberOr(node.maxLength, Infinity);
          return isInRange && (!isText(node.pattern) || matches(node.pattern, item) === true);
        }
        case 'integer':
        case 'number':
          return isNumberIn(node, item);
        case 'boolean':
          return typeof item === 'boolean';
        case 'array': {
          if (!Array.isArray(item) || Array.isArray(node.items) || node.prefixItems || node.uniqueItems) return false;
          const isInRange =
            item.length >= numberOr(node.minItems, 0) && item.length <= numberOr(node.maxItems, Infinity);
          return isInRange && item.every((part) => check(node.items, part));
        }
        case 'object': {
          if (!isRecord(item)) return false;
          const properties = isRecord(node.properties) ? node.properties : {};
          const names = Object.keys(item);
          return (
            listFrom(node.required).every((name) => isText(name) && Object.hasOwn(item, name)) &&
            names.every((name) => Object.hasOwn(properties, name) && check(properties[name], item[name]))
          );
        }
        default:
          return false;
      }
    };
    return check(given, value);
  }

  return { settle, matches, fits };
}
