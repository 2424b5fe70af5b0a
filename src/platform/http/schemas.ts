/** zod schemas that many contracts share. */
import { z } from 'zod';
import { EFFORTS } from '../core/effort.ts';
import { withoutTrailingZeros } from '../core/text.ts';

/** Takes a Date or ISO text, and is sent as ISO 8601 UTC. */
export const Timestamp = z
  .union([z.date(), z.string()])
  .transform((value) => new Date(value).toISOString())
  .pipe(z.iso.datetime());

/** US dollars as a decimal string without exponent and without trailing zeros: `0.0042`. */
export const Usd = z
  .string()
  .transform(withoutTrailingZeros)
  .pipe(z.string().regex(/^-?\d+(\.\d+)?$/));

export const SavedUsd = Usd.describe("What the providers' caches took off the cost; 0 if filling them cost more");

export const Effort = z.enum(EFFORTS).describe('How hard the model thinks before it answers');

/** US dollars as a caller writes them. */
export const UsdText = z.string().regex(/^\d{1,9}(\.\d{1,8})?$/, 'must be an amount in US dollars');

/** @param number says which numbers may be given in the place of a text @returns what is stored: a decimal string */
export const givenUsd = (number: z.ZodNumber) =>
  z.union([UsdText, number.max(1e9)]).transform((amount) => (typeof amount === 'string' ? amount : amount.toFixed(8)));

/** A row id in an address. A number too large for any row is simply unknown, so it stays a valid one. */
export const IntId = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);

export const limit = (max: number, fallback: number) => z.coerce.number().int().min(1).max(max).default(fallback);
export const offset = z.coerce.number().int().min(0).max(1_000_000_000).default(0);

const documented = new WeakMap<z.ZodType, z.ZodType>();

/** Has the OpenAPI documents show another schema of the same values: one that says what a refinement cannot. */
export function documentAs<Schema extends z.ZodType>(schema: Schema, shown: z.ZodType): Schema {
  documented.set(schema, shown);
  return schema;
}
export const documentedOf = (schema: z.ZodType): z.ZodType => documented.get(schema) ?? schema;

/** Refuses a text of nothing but spaces, in words that every reader of the documents knows. */
export const notBlank = (text: z.ZodString, error = 'must not be blank'): z.ZodString =>
  text.min(1, { error, abort: true }).regex(/\S/, error);

/** A handle that people type: agents, tools, skills, templates. */
export const Slug = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, "-" and "_"');

/** A list of all rows. @param more what `meta` says beside their number */
export const listReply = <Row extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
  row: Row,
  more = {} as More,
) => z.object({ data: z.array(row), meta: z.object({ total: z.int(), ...more }) });

/** One page of rows; `meta.total` counts all of them. */
export const pageReply = <Row extends z.ZodType>(row: Row) => listReply(row, { limit: z.int(), offset: z.int() });
