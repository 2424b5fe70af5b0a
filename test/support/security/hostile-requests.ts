/**
 * Requests that no client of good will sends, made of the declarations: one that is right but for one place. An endpoint
 * is in by being declared; what makes the rest of its request right is its line in `examples.ts`.
 */
import { z } from 'zod';
import { itemAt, last } from '../../../src/platform/core/present.ts';
import { OTP_CHALLENGE_HEADER, OTP_CODE_HEADER, type Endpoint } from '../../../src/platform/http/endpoint.ts';
import { HEADERS, JSON_BODIES, JSON_VALUES, PATH_VALUES, QUERY_VALUES, type HostileValue } from './hostile-values.ts';
import { parameterNames } from '../http/endpoints.ts';
import { uploadBodies } from './hostile-uploads.ts';
import type { RequestParts } from '../http/send.ts';

export interface HostileRequest {
  /** What is wrong with it: `body.name: half a surrogate pair`. */
  what: string;
  endpoint: Endpoint;
  method: string;
  /** From `/v1` on, escaped as it is sent. */
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
}

export interface HostileOptions {
  /** Of the values for each place: how many are tried, another part of them at each place; all without it. */
  valuesAPlace?: number;
  /** Which part comes first. */
  seed?: number;
}

/** @param parts a request that is right */
export function hostileRequests(
  endpoint: Endpoint,
  parts: RequestParts,
  { valuesAPlace = Infinity, seed = 0 }: HostileOptions = {},
): HostileRequest[] {
  let place = seed;
  /** The next values in turn, so that all of them are met even where few are tried at each place. */
  const someOf = <T>(values: readonly T[]): T[] => {
    const count = Math.min(valuesAPlace, values.length);
    const from = (place++ * count) % values.length;
    return Array.from({ length: count }, (_, at) => itemAt(values, (from + at) % values.length));
  };
  const right = rightRequest(endpoint, parts);
  const with_ = (what: string, change: Partial<HostileRequest>): HostileRequest => ({ ...right, what, ...change });

  const requests: HostileRequest[] = [];
  for (const name of parameterNames(endpoint)) {
    for (const { name: what, text } of someOf(PATH_VALUES)) {
      requests.push(with_(`path.${name}: ${what}`, { path: addressWith(endpoint, parts, { [name]: text }) }));
    }
  }
  for (const name of Object.keys((endpoint.query as z.ZodObject | undefined)?.shape ?? {})) {
    for (const { name: what, text } of someOf(QUERY_VALUES)) {
      requests.push(with_(`query.${name}: ${what}`, { path: addressWith(endpoint, parts, {}, { [name]: text }) }));
    }
    const forms = [`${name}=1&${name}=2`, `${name}[]=1`, `${name}[__proto__]=1`, `${name}=${'&'.repeat(2_000)}`];
    for (const form of someOf(forms)) {
      requests.push(with_(`query: ${form.slice(0, 40)}`, { path: `${addressWith(endpoint, parts)}?${form}` }));
    }
  }
  for (const { name, headers } of someOf(HEADERS)) {
    requests.push(with_(`headers: ${name}`, { headers: { ...right.headers, ...headers } }));
  }
  if (endpoint.otp) {
    const [challenge, code] = ['x'.repeat(16), '000000'];
    const headers = { ...right.headers, [OTP_CHALLENGE_HEADER]: challenge, [OTP_CODE_HEADER]: code };
    requests.push(with_('headers: a challenge that nobody made', { headers }));
  }
  if (endpoint.upload ?? endpoint.uploads) {
    for (const { name, body, headers } of uploadBodies(endpoint)) {
      requests.push(with_(`form: ${name}`, { headers, body }));
    }
  } else if (endpoint.body) {
    for (const { place: at } of placesIn(endpoint.body)) {
      for (const value of someOf(JSON_VALUES)) requests.push(with_(...changedBody(parts.body, at, value)));
    }
    for (const { name, body, headers } of someOf(JSON_BODIES)) {
      requests.push(with_(`body: ${name}`, { body, headers: { ...right.headers, ...headers } }));
    }
  } else {
    for (const { name, body, headers } of someOf(JSON_BODIES)) {
      const type = { 'content-type': 'application/json', ...headers };
      requests.push(with_(`unasked body: ${name}`, { body, headers: { ...right.headers, ...type } }));
    }
  }
  return requests;
}

/** The request as it should be. */
export function rightRequest(endpoint: Endpoint, parts: RequestParts): HostileRequest {
  const takesJson = parts.body !== undefined && !(parts.body instanceof FormData);
  return {
    what: 'nothing',
    endpoint,
    method: endpoint.method.toUpperCase(),
    path: addressWith(endpoint, parts),
    headers: takesJson ? { 'content-type': 'application/json' } : {},
    ...(takesJson && { body: Buffer.from(JSON.stringify(parts.body)) }),
  };
}

/** The address with these escaped texts in the place of what is right. */
export function addressWith(
  { path }: Endpoint,
  { params = {}, query = {} }: RequestParts,
  wrongParams: Record<string, string> = {},
  wrongQuery: Record<string, string> = {},
): string {
  const address = path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => wrongParams[name] ?? encodeURIComponent(params[name] ?? `no-${name}`),
  );
  const escaped = Object.entries(query).map(([name, value]) => [name, encodeURIComponent(value)]);
  const all = Object.entries({ ...Object.fromEntries(escaped), ...wrongQuery }).map((pair) => pair.join('='));
  return all.length > 0 ? `${address}?${all.join('&')}` : address;
}

/** What deletes comes last: everything else asks for things that are there. */
export const lastDeletes = (all: readonly Endpoint[]): Endpoint[] =>
  [...all].sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'));

/** The way to a field of a body. */
export type Place = readonly string[];
/** What stands at a place that no example has. */
const TOKEN = '\u0001hostile\u0001';

/** The body with this value at this place, as the bytes that are sent. */
export function changedBody(body: unknown, place: Place, { name, text }: HostileValue): [string, { body: Buffer }] {
  const changed: unknown = structuredClone(body ?? {});
  let at = changed as Record<string, unknown>;
  for (const step of place.slice(0, -1)) {
    const next = at[step];
    at[step] = next !== null && typeof next === 'object' ? next : {};
    at = at[step] as Record<string, unknown>;
  }
  at[last(place)] = TOKEN;
  const bytes = Buffer.from(JSON.stringify(changed).replace(JSON.stringify(TOKEN), () => text));
  return [`body.${place.join('.')}: ${name}`, { body: bytes }];
}

const MAX_DEPTH = 6;

export interface JsonSchema {
  type?: string;
  maxLength?: number;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
}

/** Every field that a body can have, those inside of fields included, with all that is said of what may be there. */
export function placesIn(body: z.ZodType): { place: Place; schemas: JsonSchema[] }[] {
  const root = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const places = new Map<string, { place: Place; schemas: JsonSchema[] }>();
  const visit = (schema: JsonSchema | boolean | undefined, place: Place, within: readonly JsonSchema[]) => {
    if (!schema || schema === true || place.length > MAX_DEPTH || within.includes(schema)) return;
    if (place.length > 0) {
      const name = place.join('.');
      places.set(name, { place, schemas: [...(places.get(name)?.schemas ?? []), schema] });
    }
    const inside = [...within, schema];
    if (schema.$ref) visit(resolved(root, schema.$ref), place, inside);
    for (const [name, property] of Object.entries(schema.properties ?? {})) visit(property, [...place, name], inside);
    visit(schema.items, [...place, '0'], inside);
    visit(schema.additionalProperties, [...place, 'any'], inside);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
      visit(one, place, inside);
  };
  visit(root, [], []);
  return [...places.values()];
}

const resolved = (root: JsonSchema, ref: string): JsonSchema | undefined =>
  ref === '#' ? root : root.$defs?.[ref.replace('#/$defs/', '')];
