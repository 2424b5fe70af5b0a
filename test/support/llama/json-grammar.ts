/**
 * The grammar (GBNF of llama.cpp) of the JSON that a schema allows. It is narrower than the schema: texts and lists are
 * short, because a model of this size seldom ends what it may go on with.
 */
import { isRecord } from '../../../src/platform/core/record.ts';

type Schema = Record<string, unknown>;

const LONGEST_TEXT = 160;
/** A list has this many items more than it must have. */
const MORE_ITEMS = 1;
/** Numbers of a range up to this size are listed one by one. */
const LISTED_NUMBERS = 200;

const COMMON_RULES = String.raw`
char ::= [^"\\\x7F\x00-\x1F] | "\\" ["\\/bfnrt]
word ::= "\"" char{1,${LONGEST_TEXT}} "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,8})
number ::= integer ("." [0-9]{1,6})?
boolean ::= "true" | "false"
null ::= "null"
any ::= word | number | boolean | null`;

/** @throws Error that says what of the schema no grammar is made of, as llama.cpp's own server does */
export const grammarOf = (schema: Schema): string => `root ::= ${rule(schema)}\n${COMMON_RULES.trim()}\n`;

function rule(schema: Schema): string {
  const { const: only, enum: values, anyOf, oneOf, type } = schema;
  if (schema['$ref'] !== undefined || schema['allOf'] !== undefined) throw new Error('$ref and allOf are not known');
  if (only !== undefined) return literal(JSON.stringify(only));
  if (Array.isArray(values)) return oneOfRules(values.map((value) => literal(JSON.stringify(value))));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return oneOfRules(choices.map((choice) => rule(asSchema(choice))));
  if (Array.isArray(type)) return oneOfRules(type.map((one) => rule({ ...schema, type: String(one) })));
  if (type === 'object' || isRecord(schema['properties'])) return objectRule(schema);
  if (type === 'array') return arrayRule(schema);
  if (type === 'string') return stringRule(schema);
  if (type === 'integer' || type === 'number') return numberRule(schema, type);
  return type === 'boolean' || type === 'null' ? type : 'any';
}

const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});
const literal = (text: string): string => JSON.stringify(text);
const oneOfRules = (rules: readonly string[]): string => `(${rules.join(' | ')})`;
const countOf = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

/** Every property, in the order of the schema: one that may be left out is written too. */
function objectRule({ properties }: Schema): string {
  const members = Object.entries(asSchema(properties)).map(
    ([name, value]) => `${literal(`${JSON.stringify(name)}: `)} ${rule(asSchema(value))}`,
  );
  return `"{" ${members.join(' ", " ')} "}"`;
}

function arrayRule({ items, minItems, maxItems }: Schema): string {
  const least = countOf(minItems, 0);
  const most = Math.min(countOf(maxItems, Infinity), Math.max(1, least + MORE_ITEMS));
  const item = rule(asSchema(items));
  if (most === 0) return '"[]"';
  const full = `"[" ${item} (", " ${item}){${Math.max(0, least - 1)},${most - 1}} "]"`;
  return least === 0 ? oneOfRules(['"[]"', full]) : full;
}

function stringRule({ pattern, minLength, maxLength }: Schema): string {
  if (typeof pattern === 'string') return `"\\"" ${patternRule(pattern)} "\\""`;
  const least = countOf(minLength, 0);
  const most = Math.max(least, Math.min(countOf(maxLength, LONGEST_TEXT), LONGEST_TEXT));
  return least === 1 && most === LONGEST_TEXT ? 'word' : `"\\"" char{${least},${most}} "\\""`;
}

/** Of patterns that are characters, classes of characters and how often they come, between `^` and `$`. */
function patternRule(pattern: string): string {
  const [, inside] = /^\^(.*)\$$/.exec(pattern) ?? [];
  const parts = inside?.match(/\[[^\]\\]+\]|\{\d+(?:,\d*)?\}|[?*+]|[^\\[\](){}|.^$?*+]/g) ?? [];
  if (inside === undefined || parts.join('') !== inside) throw new Error(`the pattern ${pattern} is not known`);
  return parts.map((part) => (/^(?:\[.|\{|[?*+]$)/.test(part) ? part : ` ${literal(part)}`)).join('');
}

function numberRule({ minimum, maximum }: Schema, type: 'integer' | 'number'): string {
  if (typeof minimum !== 'number' || typeof maximum !== 'number') return type;
  const [from, to] = [Math.ceil(minimum), Math.floor(maximum)];
  if (to < from || to - from > LISTED_NUMBERS) throw new Error(`numbers from ${minimum} to ${maximum} are not known`);
  return oneOfRules(Array.from({ length: to - from + 1 }, (_, i) => literal(String(from + i))));
}
