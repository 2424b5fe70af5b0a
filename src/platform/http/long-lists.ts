/**
 * Finds lists that are longer than declared, before their items are looked at. A schema looks at every item first and
 * counts them last, which for a body of nothing but items takes seconds.
 */
import { z } from 'zod';
import { fieldsOf } from '../core/record.ts';
import { defOf, innerOf, type ZodSchema } from './unknown-fields.ts';

/** The schema itself tells of shorter lists, in its own words. */
const QUICK = 1_000;

interface LongList {
  path: (string | number)[];
  reason: string;
}

/** @returns the first list or record that has more items than its schema takes; a record says so by `maxProperties` */
export function longList(schema: ZodSchema, value: unknown, path: LongList['path'] = []): LongList | undefined {
  const def = defOf(schema);
  if (def.type === 'array') {
    if (!Array.isArray(value)) return undefined;
    const most = Number(schema._zod.bag['maximum'] ?? Infinity);
    if (value.length > Math.max(most, QUICK)) return tooLong(path, 'array', most, 'items');
    return firstOf(value.entries(), (at, item) => longList(def.element, item, [...path, at]));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return def.type === 'union' ? ofUnion(def.options, value, path) : ofInner(schema, value, path);
  }
  if (def.type === 'record') {
    const most = Number(fieldsOf(z.globalRegistry.get(schema))['maxProperties'] ?? Infinity);
    if (Object.keys(value).length > Math.max(most, QUICK)) return tooLong(path, 'record', most, 'properties');
    return firstOf(Object.entries(value), (key, item) => longList(def.valueType, item, [...path, key]));
  }
  if (def.type === 'object') {
    const fields = fieldsOf(value);
    return firstOf(Object.entries(def.shape), (key, inner) => longList(inner, fields[key], [...path, key]));
  }
  return def.type === 'union' ? ofUnion(def.options, value, path) : ofInner(schema, value, path);
}

/** Another form may take the list: it is too long if it is so for all of them. */
function ofUnion(options: readonly ZodSchema[], value: unknown, path: LongList['path']): LongList | undefined {
  const found = options.map((option) => longList(option, value, path));
  return found.every((one) => one !== undefined) ? found[0] : undefined;
}

const ofInner = (schema: ZodSchema, value: unknown, path: LongList['path']): LongList | undefined => {
  const inner = innerOf(defOf(schema));
  return inner ? longList(inner, value, path) : undefined;
};

function firstOf<Key, Item>(
  entries: Iterable<readonly [Key, Item]>,
  find: (key: Key, item: Item) => LongList | undefined,
): LongList | undefined {
  for (const [key, item] of entries) {
    const found = find(key, item);
    if (found) return found;
  }
  return undefined;
}

const tooLong = (path: LongList['path'], what: string, most: number, of: string): LongList => ({
  path,
  reason: `Too big: expected ${what} to have <=${most} ${of}`,
});
