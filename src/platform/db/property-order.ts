/**
 * Keeps the order of the properties of a JSON Schema, in which a model writes them. `jsonb` has an order of its own, so what
 * is written names the order beside the properties, and what is read is put into it. A column of `json` would do the same,
 * but has no equality, by which the version before compares schemas, and to make it rewrites all runs.
 */
import { isDeepStrictEqual } from 'node:util';
import { customType } from 'drizzle-orm/pg-core';
import { isRecord } from '../core/record.ts';

const ORDER = 'x-aos-property-order';

/** @returns the same with the order of properties beside them; to be written as JSON */
export function withPropertyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPropertyOrder);
  if (!isRecord(value)) return value;
  const kept = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withPropertyOrder(each)]));
  const names = isRecord(value.properties) ? Object.keys(value.properties) : [];
  return names.length > 1 ? { ...kept, [ORDER]: names } : kept;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  const read = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inOrder(each)]));
  const { [ORDER]: order, ...rest } = read;
  const { properties } = rest;
  // Somebody's own field of this name stays.
  if (!isRecord(properties) || !isOrderOf(order, Object.keys(properties))) return read;
  const named = order.map((name) => [name, properties[name]]);
  return { ...rest, properties: Object.fromEntries(named) };
}

const isOrderOf = (order: unknown, names: readonly string[]): order is string[] =>
  Array.isArray(order) &&
  order.length === names.length &&
  names.length > 1 &&
  isDeepStrictEqual(order.toSorted(), names.toSorted());

/** @returns what a column of `jsonb` holds, in order @param parse the text, as `pg` does */
export function parseStored(text: string, parse: (text: string) => unknown): unknown {
  const value = parse(text);
  return text.includes(`"${ORDER}"`) ? inOrder(value) : value;
}

/** `jsonb` that holds a JSON Schema, or something with one in it. */
export const schemaJson = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'jsonb',
  toDriver: (value) => JSON.stringify(withPropertyOrder(value)),
});
