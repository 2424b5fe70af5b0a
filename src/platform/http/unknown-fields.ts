/**
 * Finds what a request says that its endpoint does not know: a misspelled budget must not start a project without one.
 *
 * The schemas drop such fields silently, so the schema and the value are walked side by side.
 */
import type { z } from 'zod';
import { nearest } from '../core/nearest.ts';

export type ZodSchema = z.core.$ZodType;
export interface UnknownField {
  path: (string | number)[];
  /** What may stand in its place. */
  known: readonly string[];
}

interface Fault {
  path: PropertyKey[];
  message: string;
}

/** A request says whose it is by its credential; what else it says about that is ignored. */
const OF_THE_CREDENTIAL: readonly string[] = [
  'customer_id',
  'owner_customer_id',
  'owner_kind',
  'owner_id',
  'decided_by',
];

/** @param ignored further fields that may be sent and have no effect @returns at most `max` fields */
export function unknownFields(
  schema: ZodSchema | undefined,
  value: unknown,
  { ignored = [], max }: { ignored?: readonly string[]; max: number },
): UnknownField[] {
  const isIgnored = ({ path }: UnknownField) =>
    path.length === 1 && [...OF_THE_CREDENTIAL, ...ignored].includes(String(path[0]));
  const found: UnknownField[] = [];
  for (const field of schema ? within(schema, value, []) : ofObject({}, value, [])) {
    if (found.length >= max) break;
    if (!isIgnored(field)) found.push(field);
  }
  return found;
}

/** `Unknown field; did you mean "cost_budget_usd"?` */
export function unknownMessage(word: string, { path, known }: UnknownField): string {
  const near = nearest(String(path.at(-1)), known);
  if (near !== undefined) return `Unknown ${word}; did you mean "${near}"?`;
  return known.length === 0 ? `Unknown ${word}; there are none` : `Unknown ${word}; known are ${known.join(', ')}`;
}

/** @returns what is wrong with a value: names that are not known, with what may have been meant, and then the rest */
export function faultsIn(schema: ZodSchema, value: unknown, error: z.ZodError | undefined, max: number): Fault[] {
  const unknown = unknownFields(schema, value, { max });
  const others = (error?.issues ?? []).filter(({ code }) => code !== 'unrecognized_keys' || unknown.length === 0);
  return [
    ...unknown.map((field) => ({ path: field.path, message: unknownMessage('field', field) })),
    ...others.map(({ path, message }) => ({ path, message })),
  ].slice(0, max);
}

/**
 * @returns every object of a schema whose fields are all known, for a document to say so; one that has several forms takes
 * the fields of all of them
 */
export function closedObjects(schema: ZodSchema): ZodSchema[] {
  const def = defOf(schema);
  if (def.type === 'object') {
    return [...(takesAnything(def.catchall) ? [] : [schema]), ...Object.values(def.shape).flatMap(closedObjects)];
  }
  if (def.type === 'array') return closedObjects(def.element);
  if (def.type === 'record') return closedObjects(def.valueType);
  const inner = innerOf(def);
  return inner ? closedObjects(inner) : [];
}

export const defOf = (schema: ZodSchema) => (schema as z.core.$ZodTypes)._zod.def;

/** @returns what a schema says more of: whether it may be left out, what it becomes */
export const innerOf = (def: ReturnType<typeof defOf>): ZodSchema | undefined =>
  def.type === 'pipe' ? def.in : 'innerType' in def ? def.innerType : undefined;

/**
 * Schemas nest as deep as they are written, so that the recursion ends with them and not with the value. Fields are found
 * one by one: a body of nothing but unknown fields costs no more than those that are told.
 */
function* within(schema: ZodSchema, value: unknown, path: UnknownField['path']): Generator<UnknownField, void> {
  const def = defOf(schema);
  if (def.type === 'object') {
    if (!takesAnything(def.catchall)) yield* ofObject(def.shape, value, path);
  } else if (def.type === 'array') {
    if (!Array.isArray(value)) return;
    for (const [at, item] of value.entries()) yield* within(def.element, item, [...path, at]);
  } else if (def.type === 'record') {
    for (const [key, item] of entriesOf(value)) yield* within(def.valueType, item, [...path, key]);
  } else if (def.type === 'union') {
    yield* ofUnion(def.options, value, path);
  } else {
    const inner = innerOf(def);
    if (inner) yield* within(inner, value, path);
  }
}

const takesAnything = (rest: ZodSchema | undefined): boolean => rest !== undefined && defOf(rest).type !== 'never';

function* ofObject(
  shape: Readonly<Record<string, ZodSchema>>,
  value: unknown,
  path: UnknownField['path'],
): Generator<UnknownField, void> {
  const known = Object.keys(shape);
  for (const [key, item] of entriesOf(value)) {
    const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (schema) yield* within(schema, item, [...path, key]);
    else yield { path: [...path, key], known };
  }
}

/** A field that one of the forms knows is no slip: it is dropped where the value has another form. */
function ofUnion(options: readonly ZodSchema[], value: unknown, path: UnknownField['path']): UnknownField[] {
  const found = options.map((option) => [...within(option, value, path)]);
  const placeOf = (field: UnknownField) => JSON.stringify(field.path);
  const places = found.map((fields) => new Set(fields.map(placeOf)));
  const likest = found.reduce((a, b) => (b.length < a.length ? b : a));
  return likest.filter((field) => places.every((known) => known.has(placeOf(field))));
}

const entriesOf = (value: unknown): [string, unknown][] =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [];
