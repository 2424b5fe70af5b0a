/**
 * Arguments of a tool call as models write them, which is not always the JSON that was asked for. What can only mean one
 * thing is taken as that; of anything else the model is told, and writes it again.
 */
import { JsonDepthError, parsedJson, parseJson, TOO_DEEP } from '../core/json.ts';
import { fieldsOf, isRecord } from '../core/record.ts';

/**
 * @param text as it came; models write none for a tool that takes none
 * @returns the arguments, or why they are none: then what no server would take is not sent back to one
 */
export function callArguments(text: string): { arguments: Record<string, unknown>; fault?: string } {
  const broken = (fault: string) => ({ arguments: {}, fault: `the arguments are ${fault}` });
  try {
    const value = text.trim() === '' ? {} : withoutSecondCoding(read(text));
    if (!isRecord(value)) return broken('no JSON object');
    return leadsToPrototype(value) ? broken('no JSON') : { arguments: value };
  } catch (error) {
    return broken(error instanceof JsonDepthError ? TOO_DEEP : 'no JSON');
  }
}

/** @throws SyntaxError, JsonDepthError */
function read(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const meant = argumentsIn(text);
    if (meant === undefined) throw error;
    return parseJson(meant);
  }
}

/** Nobody means such a field, and whoever copies it field by field changes more than the copy. */
const leadsToPrototype = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Object.hasOwn(value, '__proto__') ||
    Object.hasOwn(fieldsOf(fieldsOf(value).constructor), 'prototype') ||
    Object.values(value).some(leadsToPrototype));

/** @returns JSON of an object; undefined where it is not plain what was meant */
function argumentsIn(text: string): string | undefined {
  const inner = withoutFence(text.trim());
  const end = endOfObject(inner);
  if (end === undefined) return undefined;
  const object = inner.slice(0, end);
  const rest = inner.slice(end).trim();
  const value = parsedJson(object);
  // Some gateways send what came in pieces once more as a whole.
  const isWhole = TAGS.test(rest) || JSON.stringify(parsedJson(rest)) === JSON.stringify(value);
  return isRecord(value) && isWhole ? object : undefined;
}

/** @returns the object that stands as JSON within a text of JSON; any other value as it is */
function withoutSecondCoding(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const within = parsedJson(value);
  return isRecord(within) ? within : value;
}

const FENCE = '```';
/** @returns the object within a fence of Markdown; the language stands before its first line, if anything does */
export function withoutFence(whole: string): string {
  const text = whole.trim();
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return whole;
  const fenced = text.slice(FENCE.length, -FENCE.length);
  const start = Math.max(fenced.indexOf('{'), 0);
  return /^\w*\s*$/.test(fenced.slice(0, start)) ? fenced.slice(start).trim() : whole;
}

/** Tags of the model's own template (`</tool_call>`, `<|im_end|>`) are no part of what it says. */
const TAGS = /^(?:<[^<>{}"\s]{1,40}>\s*)*$/;

/** @returns how long the object is with which the text begins; undefined where it begins with none, or that has no end */
function endOfObject(text: string): number | undefined {
  if (!text.startsWith('{')) return undefined;
  let depth = 0;
  // A whole string, or one bracket.
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[{}]/gs)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    if (depth === 0) return index + token.length;
  }
  return undefined;
}
