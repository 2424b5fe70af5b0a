/**
 * Arguments of a tool call as models write them, which is not always the JSON that was asked for. What can only mean one
 * thing is taken as that; of anything else the model is told, and writes it again.
 */
import { parsedJson } from '../core/json.ts';
import { isRecord } from '../core/record.ts';

/** @returns JSON of an object; undefined where it is not plain what was meant */
export function argumentsIn(text: string): string | undefined {
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
export function withoutSecondCoding(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const within = parsedJson(value);
  return isRecord(within) ? within : value;
}

const FENCE = '```';
/** The language stands before the first line, if anything does. */
function withoutFence(text: string): string {
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text;
  const fenced = text.slice(FENCE.length, -FENCE.length);
  const start = Math.max(fenced.indexOf('{'), 0);
  return /^\w*\s*$/.test(fenced.slice(0, start)) ? fenced.slice(start) : text;
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
