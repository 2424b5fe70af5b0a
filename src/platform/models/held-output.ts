/**
 * Sees to it that a provider is asked for no more output than is held for the call. Packages of the SDK put what a model may
 * think on top of the limit that they are given, and some models take no more for it than the whole limit.
 */
import { parsedJson } from '../core/json.ts';
import { fieldsOf, isRecord } from '../core/record.ts';

/** Anthropic takes no smaller one. */
const MIN_BUDGET = 1_024;

/** @returns the body of a request, in which thinking has its part of the limit, or is off where that is too small */
export function withinHold(body: string, maxOutputTokens: number): string {
  // A body without it is sent as it is: most are long, and need not be read.
  if (!body.includes('"budget_tokens"')) return body;
  const request = fieldsOf(parsedJson(body));
  // Bedrock has what is Anthropic's own apart from what all of its models take.
  const { additionalModelRequestFields: ofModel, inferenceConfig: config } = request;
  const fields = isRecord(ofModel) ? ofModel : request;
  const { budget_tokens: asked, ...thinking } = fieldsOf(fields.thinking);
  // Somebody's arguments may have a field of this name.
  if (typeof asked !== 'number') return body;
  const budget = Math.min(Math.floor(maxOutputTokens / 2), asked);
  const held = { ...fields, thinking: budget < MIN_BUDGET ? undefined : { ...thinking, budget_tokens: budget } };
  return JSON.stringify(
    isRecord(ofModel)
      ? {
          ...request,
          inferenceConfig: { ...fieldsOf(config), maxTokens: maxOutputTokens },
          additionalModelRequestFields: held,
        }
      : { ...held, max_tokens: maxOutputTokens },
  );
}
