/** Reads what is declared of flags and columns by the schemas of the endpoints: choices, numbers, lists, files. */
import { Option } from 'commander';
import { z } from 'zod';
import type { Endpoint } from '../platform/http/endpoint.ts';
import { parseTime } from './filters.ts';
import { readFields, readText } from './input.ts';
import { CliError } from './output.ts';

/**
 * By the name of a field, with a `!` if it is the second of one: `-d, --description <text> = default | help`. Without a
 * help the one of the schema is shown, and one of `-` hides the flag. A `*` after the name says that the flag can be repeated.
 */
export type Flags = Readonly<Record<string, string>>;

export function optionOf(flag: string, schema: z.ZodType | undefined): Option {
  const { names, fallback, help } = partsOf(flag);
  const option = new Option(names.replace('*', ''), help ?? schema?.description);
  const choices = choicesOf(schema, flag);
  if (choices && names.includes('<')) option.choices(choices);
  if (names.endsWith('*')) option.argParser((one: string, before: string[] = []) => [...before, one]);
  if (names.endsWith('<time>')) option.argParser(parseTime);
  if (help === '-') option.hideHelp();
  return fallback === undefined ? option : option.default(fallback);
}

export function partsOf(flag: string): { names: string; fallback: string | undefined; help: string | undefined } {
  const [head = '', help] = flag.split(' | ');
  const [names = '', fallback] = head.split(' = ');
  return { names, fallback, help };
}

/** @returns the fields as the schemas of an endpoint have them */
export async function converted(
  { query, body }: Pick<Endpoint, 'query' | 'body'>,
  fields: Record<string, unknown>,
  flags: Flags = {},
) {
  const shape = { ...shapeOf(query), ...shapeOf(body) };
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const values = entries.map(async ([name, value]) => [name, await asField(value, shape[name], flags[name] ?? '')]);
  return Object.fromEntries(await Promise.all(values));
}

/** `none` and `auto` stand for null if the flag names them, `on` and `off` for booleans. */
async function asField(value: unknown, schema: z.ZodType | undefined, flag: string): Promise<unknown> {
  if (typeof value !== 'string' || schema === undefined) return value;
  const { names, help = '' } = partsOf(flag);
  const inner = unwrapped(schema);
  if ((value === 'none' || value === 'auto') && help.split(/\W+/).includes(value)) {
    if (inner instanceof z.ZodArray) return [];
    if (schema.safeParse(null).success) return null;
  }
  if (inner instanceof z.ZodArray)
    return value
      .split(',')
      .filter((one) => one.trim() !== '')
      .map((one) => asNumber(one.trim(), inner.unwrap()));
  if (inner instanceof z.ZodBoolean) return value === 'on';
  if (names.endsWith('<json>')) return parsed(value, names);
  if (names.endsWith('<path>')) return inner instanceof z.ZodString ? readText(value) : readFields(value);
  return asNumber(value, inner);
}

const asNumber = (text: string, schema: unknown): string | number =>
  schema instanceof z.ZodNumber ? Number(text) : text;

function parsed(text: string, names: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${/--[\w-]+/.exec(names)?.[0]} must be JSON`);
  }
}

/** @returns the schema below what says that it may be absent, null or something before */
export function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrapped(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrapped(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}

export const shapeOf = (schema: unknown): Partial<Record<string, z.ZodType>> => {
  const inner = unwrapped(schema);
  return inner instanceof z.ZodObject ? inner.shape : {};
};

/** @param flag may list them, as in `<on|off>`; `auto` is one if it is named and stands for null */
export function choicesOf(schema: z.ZodType | undefined, flag = ''): string[] | undefined {
  const [, listed] = /<(\w+(?:\|\w+)+)>/.exec(flag) ?? [];
  if (listed) return listed.split('|');
  const inner = unwrapped(schema);
  const or = /\bauto\b/.test(flag) && schema?.safeParse(null).success ? ['auto'] : [];
  if (inner instanceof z.ZodBoolean) return ['on', 'off', ...or];
  return inner instanceof z.ZodEnum ? [...inner.options.map(String), ...or] : undefined;
}
