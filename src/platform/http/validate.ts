/**
 * Turns a request into what its endpoint declares, or into the 400 or 422 that the endpoint promises.
 *
 * Express 5 makes `req.query` a getter, so parsed values are passed on and never written back.
 */
import type { z } from 'zod';
import { MAX_JSON_DEPTH, TOO_DEEP } from '../core/json.ts';
import { first } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import type { Endpoint } from './endpoint.ts';
import { longList } from './long-lists.ts';
import { MAX_VALUES } from './many-values.ts';
import { unknownFields, unknownMessage } from './unknown-fields.ts';

type Place = 'path' | 'query' | 'body';
interface Fault {
  loc: PropertyKey[];
  msg: string;
  type: string;
}

/** More faults than these help nobody, and a body of nothing but faults would make a reply many times its size. */
const MAX_FAULTS = 50;

export function parseRequest(
  endpoint: Endpoint,
  raw: { params: unknown; query: unknown; body: unknown },
): { params: unknown; query: unknown; body: unknown } {
  const faults: Fault[] = [];
  const parse = (place: Place, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (!schema && place !== 'query') return undefined;
    const unstorable = findUnstorable(value);
    if (unstorable) {
      faults.push({ loc: [place, ...unstorable.path], msg: unstorable.reason, type: 'unstorable' });
      return undefined;
    }
    const long = schema && longList(schema, value);
    if (long) {
      faults.push({ loc: [place, ...long.path], msg: long.reason, type: 'too_big' });
      return undefined;
    }
    const unknown = unknownIn(endpoint, place, value);
    faults.push(...unknown);
    if (!schema) return undefined;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message, code } of parsed.error.issues.slice(0, MAX_FAULTS)) {
      // Said above already, and with what may have been meant.
      if (code === UNKNOWN && unknown.length > 0) continue;
      faults.push({ loc: [place, ...path], msg: message, type: code });
    }
    return undefined;
  };
  const parsed = {
    params: parse('path', endpoint.params, raw.params),
    query: parse('query', endpoint.query, raw.query),
    body: parse('body', endpoint.body, raw.body),
  };
  if (faults.length === 0) return parsed;
  // A name that is not known explains what is missing: `nam` is there and `name required`.
  const main = faults.find(({ type }) => type === UNKNOWN) ?? first(faults);
  if (endpoint.badInput === 400) throw new Problem('bad_request', sentence(main));
  throw new Problem('validation', faults);
}

/** What zod calls a field that it does not know. */
const UNKNOWN = 'unrecognized_keys';
/** A name that nobody declared is repeated in the answer, and so is not to be as long as the caller likes. */
const MAX_NAME = 100;

/** Reports what is asked of nobody: the address names its parameters itself, and a provider's request is its own. */
function unknownIn(endpoint: Endpoint, place: Place, value: unknown): Fault[] {
  if (place === 'path' || endpoint.credential === 'provider') return [];
  const options = { max: MAX_FAULTS, ...(endpoint.ignored && { ignored: endpoint.ignored }) };
  return unknownFields(endpoint[place], value, options).map((field) => ({
    loc: [place, ...field.path.map((name) => (typeof name === 'string' ? name.slice(0, MAX_NAME) : name))],
    msg: unknownMessage(place === 'query' ? 'parameter' : 'field', field),
    type: UNKNOWN,
  }));
}

/**
 * Says one fault: `name required` where the schema words it, `limit: Too big` where the message does not name its
 * field.
 */
function sentence({ loc, msg }: Fault): string {
  const field = loc.slice(1).join('.');
  return field === '' || msg.startsWith(field) ? msg : `${field}: ${msg}`;
}

/**
 * Finds what Postgres cannot keep in a text or jsonb column, wherever in the value it stands. It does not call itself,
 * so that no depth can exhaust its stack.
 */
export function findUnstorable(root: unknown): { path: string[]; reason: string } | undefined {
  const open: Found[] = [{ value: root, depth: 0 }];
  let seen = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    seen += 1;
    if (seen + open.length > MAX_VALUES) return { path: [], reason: `must not have more than ${MAX_VALUES} values` };
    if (typeof value === 'string') {
      const reason = unstorableText(value);
      if (reason) return { path: pathTo(next), reason };
    } else if (value !== null && typeof value === 'object') {
      if (depth >= MAX_JSON_DEPTH) return { path: pathTo(next).slice(0, 3), reason: TOO_DEEP };
      for (const key in value) {
        const reason = unstorableText(key);
        if (reason) return { path: pathTo(next), reason };
        open.push({ value: Reflect.get(value, key), depth: depth + 1, key, within: next });
      }
    }
  }
  return undefined;
}

/** A value in the body. Its path is made of these when it is told, since most are right and a path takes time. */
interface Found {
  value: unknown;
  depth: number;
  key?: string;
  within?: Found;
}

function pathTo(found: Found): string[] {
  const path: string[] = [];
  for (let at: Found | undefined = found; at?.key !== undefined; at = at.within) path.unshift(at.key);
  return path;
}

const unstorableText = (text: string): string | undefined => {
  if (text.includes('\u0000')) return 'must not contain a NUL character';
  return text.isWellFormed() ? undefined : 'must be well-formed Unicode';
};
