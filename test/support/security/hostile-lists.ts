/**
 * Bodies of many small things, made of the declarations: each list, each record and each object of fields that a body can
 * have, with as many items or unknown fields as are asked for. An endpoint is in by being declared.
 */
import { fieldsOf } from '../../../src/platform/core/record.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { changedBody, placesIn, rightRequest, type HostileRequest, type JsonSchema } from './hostile-requests.ts';
import type { RequestParts } from '../http/send.ts';

interface ListSchema extends JsonSchema {
  maxItems?: number;
  maxProperties?: number;
  enum?: unknown[];
  const?: unknown;
  required?: string[];
}

/** @param parts makes a request that is right @returns a request for each list that its body can have */
export function listRequests(endpoint: Endpoint, parts: RequestParts, items: number): HostileRequest[] {
  if (!endpoint.body || endpoint.upload || endpoint.uploads) return [];
  const right = rightRequest(endpoint, parts);
  const wide = { ...fieldsOf(parts.body), ...unknown(items) };
  const atRoot = { ...right, what: `body: ${items} unknown fields`, body: Buffer.from(JSON.stringify(wide)) };
  const within = placesIn(endpoint.body).flatMap(({ place, schemas }) =>
    schemas.flatMap((schema) => {
      const text = listOf(schema, items, (name) => valueAt(parts.body, [...place, name]));
      if (text === undefined) return [];
      const [what, change] = changedBody(parts.body, place, { name: `${items} items`, text });
      return [{ ...right, ...change, what }];
    }),
  );
  return [atRoot, ...within];
}

const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`unknown${n}`, n]));

/** @returns the JSON of a list, record or object with that many items, no two alike; undefined if the schema takes none */
function listOf(schema: ListSchema, items: number, itemAt: (name: string) => unknown): string | undefined {
  const numbers = Array.from({ length: items }, (_, n) => n);
  if (schema.type === 'array') return JSON.stringify(numbers.map((n) => itemFor(schema.items, n, itemAt('0'))));
  if (schema.type !== 'object') return undefined;
  if (!schema.additionalProperties) return JSON.stringify(unknown(items));
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  return JSON.stringify(Object.fromEntries(numbers.map((n) => [`n${n}`, itemFor(values, n, undefined)])));
}

/** @param example what an item of the right request is; its texts are made different from item to item */
function itemFor(schema: ListSchema | undefined, n: number, example: unknown): unknown {
  if (typeof example === 'string') return `${example}${n}`;
  if (example !== null && typeof example === 'object' && !Array.isArray(example)) {
    const fields = Object.entries(example);
    return Object.fromEntries(
      fields.map(([name, value]) => [name, typeof value === 'string' ? `${value}${n}` : value]),
    );
  }
  if (schema?.enum) return schema.enum[n % schema.enum.length];
  if (schema?.type === 'object') {
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, itemFor(schema.properties?.[name], n, undefined)]),
    );
  }
  if (schema?.type === 'number' || schema?.type === 'integer') return n;
  if (schema?.type === 'boolean') return true;
  return `item-${n}`;
}

const valueAt = (body: unknown, place: readonly string[]): unknown =>
  place.reduce<unknown>(
    (value, name) => (value !== null && typeof value === 'object' ? Reflect.get(value, name) : undefined),
    body,
  );
