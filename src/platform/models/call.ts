/**
 * One call of a model: the reply, or a `ModelFailure` that says whether another attempt may help. Retrying is the
 * workflow's business, which knows what a retry costs; calling tools is the run's, so none is executed here.
 */
import type { JSONSchema7, LanguageModel, ModelMessage, ToolSet, wrapLanguageModel } from 'ai';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTooDeep, parseJson, TOO_DEEP } from '../core/json.ts';
import { isRecord } from '../core/record.ts';
import { storable, storableText } from '../core/storable.ts';
import { withPictures } from './pictures.ts';
import { configuredProviders } from './catalogue.ts';
import { malformed, refused, sampleSuperseded, timedOut, toModelFailure, truncated } from './failures.ts';
import type { CallOptions, Prompt, SdkModel } from './providers.ts';
import { countInput, listenForUsage, type UsageListener } from './usage-without-reply.ts';
import { reportedUsage } from './provider-numbers.ts';
import { createReplyCounter } from './reply-limits.ts';
import { countTokensOf } from './token-counts.ts';
import { createThoughts, opaqueIn } from './thoughts.ts';
import { argumentsIn, withoutSecondCoding } from './tool-arguments.ts';
import { toolSchema } from './tool-schemas.ts';
import { toWire, wireName } from './tool-names.ts';
import type { ModelCall, ModelReply } from './types.ts';

type ResponseFormat = CallOptions['responseFormat'];

/** Runs `work` under the caller's signal and a deadline; whichever fires is what is thrown, and ends the connection. */
async function withDeadline<T>(
  call: ModelCall,
  work: (signal: AbortSignal, listener: UsageListener) => Promise<T>,
): Promise<T> {
  const listener = listenForUsage(call);
  const { signal, timeoutMs, resolved } = call;
  signal.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => controller.abort(timedOut(resolved, timeoutMs)), timeoutMs);
  try {
    const result = await work(controller.signal, listener);
    controller.signal.throwIfAborted();
    return result;
  } catch (error) {
    const hungUp = controller.signal.aborted;
    if (!hungUp) controller.abort(error);
    const usage = await listener.billed(hungUp);
    if (usage) call.onAborted?.(usage);
    throw hungUp ? controller.signal.reason : toModelFailure(error, call);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

const responseFormat = ({ outputSchema }: ModelCall): ResponseFormat =>
  outputSchema ? { type: 'json', schema: outputSchema as JSONSchema7 } : undefined;

/** A reply without words and without a call is no reply, whatever the provider says it finished with. */
function checked(reply: ModelReply, { resolved }: ModelCall): ModelReply {
  const text = storableText(reply.text);
  const toolCalls = reply.toolCalls.map((call) => ({ ...call, arguments: storable(call.arguments) }));
  if (text.trim() || toolCalls.length > 0) return { ...reply, text, toolCalls };
  throw malformed(resolved, `it has neither text nor tool calls (finish reason ${reply.finishReason})`);
}

/**
 * Asks for JSON on the wire. The SDK's own output setting is not used, because it parses the whole text anew at every
 * chunk.
 */
const demandingJson = (wrap: typeof wrapLanguageModel, model: SdkModel, call: ModelCall): LanguageModel =>
  wrap({
    model,
    middleware: {
      specificationVersion: 'v3',
      transformParams: async ({ params }) => ({ ...params, responseFormat: responseFormat(call) }),
    },
  });

/** Not every server takes a schema on the wire, so that it is also said in words. */
const systemOf = ({ system, outputSchema }: ModelCall): string =>
  outputSchema
    ? `${system}\n\nAnswer with one JSON value and nothing else. It must validate against this JSON Schema:\n${JSON.stringify(outputSchema)}`
    : system;

/**
 * Calls a model of a provider. The reply is streamed: a long one sends bytes all along, so that no idle connection is
 * cut.
 */
export const callProvider = (call: ModelCall, model: SdkModel): Promise<ModelReply> =>
  withDeadline(call, async (abortSignal, listener) => {
    const { NoSuchToolError, jsonSchema, streamText, tool, wrapLanguageModel } = await import('ai');
    const names = new Map(call.tools.map(({ name }) => [wireName(name), name]));
    const tools: ToolSet = Object.fromEntries(
      call.tools.map(({ name, description, parameters }) => [
        wireName(name),
        tool({ description, inputSchema: jsonSchema(toolSchema(parameters) as JSONSchema7) }),
      ]),
    );
    const { fullStream } = streamText({
      model: call.outputSchema ? demandingJson(wrapLanguageModel, model, call) : model,
      system: systemOf(call) || undefined,
      messages: withPictures(toWire(call.messages), call),
      tools,
      maxOutputTokens: call.maxOutputTokens,
      maxRetries: 0,
      abortSignal,
      experimental_repairToolCall: ({ toolCall }) => {
        const input = argumentsIn(toolCall.input);
        return Promise.resolve(input === undefined ? null : { ...toolCall, input });
      },
      // Strict mode stays off because a tenant's schema seldom meets its rules; the caller validates what comes.
      // Nothing is left at the provider, which gives its reasoning to take along instead.
      providerOptions: { openai: { strictJsonSchema: false, store: false } },
      onError: () => {}, // The SDK would print it to the console; the stream below throws it.
    });

    const reply: ModelReply = {
      text: '',
      toolCalls: [],
      usage: { inputTokens: 0, outputTokens: 0 },
      finishReason: 'unknown',
    };
    const count = createReplyCounter(call);
    const thoughts = createThoughts();
    for await (const part of fullStream) {
      listener.hear(part);
      count(part);
      thoughts.hear(part);
      if (part.type === 'error') throw part.error;
      else if (part.type === 'text-delta') {
        reply.text += part.text;
        call.onText?.(part.text);
      } else if (part.type === 'tool-call') {
        const given = withoutSecondCoding(part.input);
        const isJson = !('invalid' in part && part.invalid) || NoSuchToolError.isInstance(part.error);
        const fault = isJson ? faultOf(given) : 'the arguments are no JSON';
        reply.toolCalls.push({
          callId: part.toolCallId,
          tool: names.get(part.toolName) ?? part.toolName,
          // The run answers a call that cannot be made. What no server would take is not sent back to one.
          ...(fault ? { arguments: {}, fault } : { arguments: given }),
          ...opaqueIn(part),
        });
      } else if (part.type === 'finish-step') {
        if (part.finishReason === 'other' && part.rawFinishReason === undefined)
          throw malformed(call.resolved, 'it ends before its end');
        reply.finishReason = part.finishReason;
        const reported = reportedUsage(part.usage);
        reply.usage = {
          ...reported,
          inputTokens: reported.inputTokens ?? (await countInput(call)),
          outputTokens: reported.outputTokens ?? (await countTokensOf(reply.text + JSON.stringify(reply.toolCalls))),
        };
      }
    }
    abortSignal.throwIfAborted();
    return checked(whole({ ...reply, ...thoughts.told() }, call), call);
  });

/** @returns why these cannot be the arguments of any tool */
function faultOf(args: unknown): string | undefined {
  if (!isRecord(args)) return 'the arguments are no JSON object';
  return isTooDeep(args) ? `the arguments are ${TOO_DEEP}` : undefined;
}

/** @throws ModelFailure where the provider ended the reply before its end, and would do so again */
function whole(reply: ModelReply, { resolved, outputSchema, maxOutputTokens }: ModelCall): ModelReply {
  const { text, toolCalls, finishReason } = reply;
  if (finishReason === 'content-filter') throw refused(resolved, text.trim());
  if (finishReason !== 'length') return reply;
  if (toolCalls.some(({ fault }) => fault)) throw truncated(resolved, 'within a tool call', maxOutputTokens);
  if (toolCalls.length > 0) return reply;
  if (!text.trim()) throw truncated(resolved, 'before it had an answer', maxOutputTokens);
  if (outputSchema) throw truncated(resolved, 'within its JSON', maxOutputTokens);
  return reply;
}

/** Makes of the messages what the SDK would make of them before a model sees them. */
const toPrompt = ({ system, messages }: ModelCall): Prompt => {
  const inParts = (message: ModelMessage) =>
    message.role === 'system' || typeof message.content !== 'string'
      ? message
      : { ...message, content: [{ type: 'text', text: message.content }] };
  return [{ role: 'system', content: system }, ...(messages.map(inParts) as Prompt)];
};

/** Calls the offline model directly, because the SDK's streams would take several times as long. */
export const callOffline = (call: ModelCall, model: SdkModel): Promise<ModelReply> =>
  withDeadline(call, async (abortSignal) => {
    const { content, usage, finishReason } = await model.doGenerate({
      prompt: toPrompt(call),
      tools: call.tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        inputSchema: parameters,
      })),
      responseFormat: responseFormat(call),
      maxOutputTokens: call.maxOutputTokens,
      abortSignal,
    });
    const reply: ModelReply = {
      text: '',
      toolCalls: [],
      usage: { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 },
      finishReason: finishReason.unified,
    };
    for (const part of content) {
      if (part.type === 'text') reply.text += part.text;
      else if (part.type === 'tool-call')
        reply.toolCalls.push({ callId: part.toolCallId, tool: part.toolName, arguments: parseJson(part.input) });
    }
    if (call.onText) await inPieces(reply.text, call.onText, abortSignal, OFFLINE_PACE);
    return checked(reply, call);
  });

/**
 * Answers from a recording. Tokens are counted as of any reply, so that costs and budgets look as they would.
 * @throws ModelFailure model_unavailable when a provider is configured: a recording never stands in for a model
 */
export const callSample = (call: ModelCall): Promise<ModelReply> =>
  withDeadline(call, async (abortSignal) => {
    const { recorded } = call;
    if (!recorded) throw new Error('a call of the provider "sample" needs a recorded reply');
    if (configuredProviders(call.credentials).length > 0) throw sampleSuperseded();
    const { text, toolCalls } = recorded;
    const said = text + toolCalls.map((each) => `${each.tool} ${JSON.stringify(each.arguments)}`).join('\n');
    const [inputTokens, outputTokens] = await Promise.all([countInput(call), countTokensOf(said)]);
    if (call.onText) await inPieces(text, call.onText, abortSignal, SAMPLE_PACE);
    const finishReason = toolCalls.length > 0 ? 'tool-calls' : 'stop';
    return checked({ text, toolCalls, usage: { inputTokens, outputTokens }, finishReason }, call);
  });

interface Pace {
  charactersPerSecond: number;
  longestMs: number;
}

const PIECE_MS = 40;
const OFFLINE_PACE: Pace = { charactersPerSecond: 200, longestMs: 800 };
/** A few hundred characters a second, as a provider's stream comes; the longest drawings come faster. */
const SAMPLE_PACE: Pace = { charactersPerSecond: 600, longestMs: 20_000 };

/** Gives a reply in pieces, as a provider's comes. */
async function inPieces(
  text: string,
  onText: (piece: string) => void,
  signal: AbortSignal,
  { charactersPerSecond, longestMs }: Pace,
): Promise<void> {
  const length = Math.ceil(PIECE_MS * Math.max(charactersPerSecond / 1_000, text.length / longestMs));
  for (let at = 0; at < text.length; at += length) {
    await sleep(PIECE_MS, undefined, { signal }).catch(() => {});
    onText(text.slice(at, at + length));
  }
}
