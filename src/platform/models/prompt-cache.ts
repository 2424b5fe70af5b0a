/**
 * Has providers read from their caches what each turn of a run repeats: tools, system text and all messages but the
 * latest. It costs less as long as these are byte for byte the same from turn to turn, which they are: a run only adds.
 */
import { fieldsOf, isRecord } from '../core/record.ts';
import type { CallOptions, Prompt } from './sdk.ts';
import type { ModelCall, ModelServer } from './types.ts';

type Marks = NonNullable<Prompt[number]['providerOptions']>;

/** How a provider that caches up to a mark is told one. It takes four. */
interface Marking {
  marks: Marks;
  /** The messages of these roles take one. */
  roles: readonly string[];
}

const EPHEMERAL = { type: 'ephemeral' };
const ASKED = ['user', 'tool'];
const ANTHROPIC: Marking = { marks: { anthropic: { cacheControl: EPHEMERAL } }, roles: ASKED };
const CACHE_POINT: Marks = { amazonBedrock: { cachePoint: { type: 'default' } } };

/**
 * Bedrock refuses the whole request for a mark that a model does not take, so only these are sent any. A mark behind the system
 * text is one behind the tools, too. Nova takes none behind a result of a tool.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
const AT_BEDROCK: readonly [models: RegExp, Marking][] = [
  [/anthropic\.claude-(?!v\d|instant|3-(?:opus|sonnet|haiku)|3-5-sonnet)/, { marks: CACHE_POINT, roles: ASKED }],
  [/amazon\.nova-(?:micro|lite|pro|premier|2-lite)-/, { marks: CACHE_POINT, roles: ['user'] }],
];

/** The others cache what they see again by themselves. */
function markingOf({ provider, model }: ModelCall['resolved']): Marking | undefined {
  if (provider === 'anthropic') return ANTHROPIC;
  if (provider !== 'amazon-bedrock' || model.includes('custom-model')) return undefined;
  return AT_BEDROCK.find(([models]) => models.test(model))?.[1];
}

/**
 * @returns the places of the system text, the latest message that asks, and the one of the turn before: a provider looks for
 * what it has only so many parts back, and a turn may have more
 */
function placesOfMarks(messages: readonly unknown[], roles: readonly string[]): ReadonlySet<number> {
  const told = messages.map((message) => String(fieldsOf(message).role));
  const isAsking = (role = '') => ASKED.includes(role);
  const ends = told.flatMap((role, at) => (roles.includes(role) && !isAsking(told[at + 1]) ? at : []));
  return new Set([told.lastIndexOf('system'), ...ends.slice(-2)]);
}

/** @returns the same with marks, or with the key by which a provider finds what it has cached */
export function cached(request: CallOptions, call: Pick<ModelCall, 'resolved' | 'cacheKey'>): CallOptions {
  const { resolved, cacheKey } = call;
  if (resolved.provider === 'mistral' && cacheKey)
    return { ...request, providerOptions: { ...request.providerOptions, mistral: { promptCacheKey: cacheKey } } };
  const marking = markingOf(resolved);
  if (!marking) return request;
  const { marks, roles } = marking;
  const { prompt, tools } = request;
  const marked = placesOfMarks(prompt, roles);
  return {
    ...request,
    prompt: prompt.map((message, index) =>
      marked.has(index) ? { ...message, providerOptions: { ...message.providerOptions, ...marks } } : message,
    ),
    ...(tools && { tools: tools.map((tool, index) => (index < tools.length - 1 ? tool : markedTool(tool, marks))) }),
  };
}

const markedTool = (tool: NonNullable<CallOptions['tools']>[number], marks: Marks) =>
  tool.type === 'function' ? { ...tool, providerOptions: marks } : tool;

/**
 * @returns for Claude at OpenRouter, what puts the marks into a request of the chat protocol: OpenRouter passes them on
 * https://openrouter.ai/docs/guides/best-practices/prompt-caching
 */
export const routedMarks = (model: string, { baseUrl, isRouter }: Pick<ModelServer, 'baseUrl' | 'isRouter'>) =>
  /^~?anthropic\//.test(model) && (isRouter || /(?:^|\.)openrouter\.ai$/.test(new URL(baseUrl).hostname))
    ? { transformRequestBody: marked }
    : {};

function marked(body: Readonly<Record<string, unknown>>) {
  const messages: unknown[] = Array.isArray(body.messages) ? body.messages : [];
  const places = placesOfMarks(messages, ASKED);
  return { ...body, messages: messages.map((message, at) => (places.has(at) ? markedMessage(message) : message)) };
}

/** The mark stands in a part: a request with one beside the parts of a tool's result is never answered. */
function markedMessage(message: unknown): unknown {
  const fields = fieldsOf(message);
  const parts = (typeof fields.content === 'string' ? [{ type: 'text', text: fields.content }] : fields.content) ?? [];
  if (!Array.isArray(parts)) return message;
  // Anthropic refuses a mark at an empty text.
  const last = parts.findLastIndex((part) => isRecord(part) && part.type === 'text' && part.text !== '');
  if (last === -1) return message;
  return { ...fields, content: parts.map((part, at) => (at === last ? { ...part, cache_control: EPHEMERAL } : part)) };
}
