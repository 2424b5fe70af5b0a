/**
 * Bodies of many small things, made of the declarations: each list and each record that a body can have, with as many
 * items as are asked for. An endpoint is in by being declared.
 */
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
  return placesIn(endpoint.body).flatMap(({ place, schemas }) =>
    schemas.flatMap((schema) => {
      const text = listOf(schema, items, (name) => valueAt(parts.body, [...place, name]));
      if (text === undefined) return [];
      const [what, change] = changedBody(parts.body, place, { name: `${items} items`, text });
      return [{ ...right, ...change, what }];
    }),
  );
}

/** @returns the JSON of a list or record with that many items, no two alike; undefined where the schema takes neither */
function listOf(schema: ListSchema, items: number, itemAt: (name: string) => unknown): string | undefined {
  const numbers = Array.from({ length: items }, (_, n) => n);
  if (schema.type === 'array') return JSON.stringify(numbers.map((n) => itemFor(schema.items, n, itemAt('0'))));
  if (schema.type !== 'object' || !schema.additionalProperties) return undefined;
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
