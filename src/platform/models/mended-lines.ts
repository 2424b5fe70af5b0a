/**
 * What servers send in a streamed reply that the SDK does not read, put as the protocol has it. Only lines that may need it
 * are parsed: nearly all of a reply are pieces of text.
 */
import { parsedJson } from '../core/json.ts';
import { fieldsOf, isRecord } from '../core/record.ts';
import { checkNumbers, COUNTING } from './provider-numbers.ts';
import { saidIn } from './said.ts';

/** No JSON, but what some libraries write for it. */
const NO_NUMBERS = /([:[,]\s*)(?:NaN|-?Infinity)(?=\s*[,\]}])/g;
const OF_ERROR = /"error"\s*:|"detail"\s*:|"object"\s*:\s*"error"/;
const OF_CALLS = /"arguments"\s*:\s*[{[]/;

/** @param line without its end */
export function mended(line: string): string {
  if (!line.startsWith('data:')) return line;
  const data = line.slice('data:'.length);
  const isCounting = COUNTING.test(data);
  const isError = OF_ERROR.test(data);
  if (!isCounting && !isError && !OF_CALLS.test(data)) return line;
  const known = parsedJson(data);
  const event = known ?? parsedJson(data.replace(NO_NUMBERS, (_, before: string) => `${before}0`));
  const error = isError ? errorIn(event) : undefined;
  if (error) return `data: ${JSON.stringify(error)}`;
  const isChanged =
    [checkNumbers(event), writeArguments(event)].includes(true) || (event !== undefined && known === undefined);
  return isChanged ? `data: ${JSON.stringify(event)}` : line;
}

/**
 * @returns an error in the form of the chat protocol, whatever form it came in; undefined for what is none. Anthropic's own
 * errors, and those of OpenAI's responses, have a `type`, and the SDK reads them.
 */
function errorIn(event: unknown): unknown {
  const fields = fieldsOf(Array.isArray(event) ? event[0] : event);
  // `error` of Anthropic, `response.failed` of OpenAI.
  if (typeof fields.type === 'string' && /^error$|\./.test(fields.type)) return undefined;
  const isError = Boolean(fields.error) || fields.object === 'error' || (!('choices' in fields) && 'detail' in fields);
  if (!isError) return undefined;
  const { words, names, status } = saidIn(event);
  return { error: { message: words || names || 'no reason given', type: names || null, code: status ?? null } };
}

/** Arguments of a call are a text with JSON. @returns whether some came as a value, which was written, in place */
function writeArguments(event: unknown): boolean {
  const { choices } = fieldsOf(event);
  let isChanged = false;
  for (const choice of Array.isArray(choices) ? choices : []) {
    const { tool_calls: calls } = fieldsOf(fieldsOf(choice).delta);
    for (const call of Array.isArray(calls) ? calls : []) {
      const made = fieldsOf(call).function;
      if (!isRecord(made) || typeof made.arguments !== 'object' || made.arguments === null) continue;
      made.arguments = JSON.stringify(made.arguments);
      isChanged = true;
    }
  }
  return isChanged;
}
