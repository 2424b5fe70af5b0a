/**
 * One call of a model: the reply, or a `ModelFailure` that says whether another attempt may help. Retrying is the
 * workflow's business, which knows what a retry costs; calling tools is the run's, so none is executed here.
 */
import type { ModelMessage } from 'ai';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../core/json.ts';
import { configuredProviders } from './catalogue.ts';
import type { JsonMode } from './json-modes.ts';
import { createHearing } from './hearing.ts';
import type { Words } from './joined-events.ts';
import { sampleSuperseded, timedOut, toModelFailure } from './failures.ts';
import type { Prompt, SdkModel, Warnings } from './sdk.ts';
import { checked, readReply } from './reply.ts';
import { requestOf, responseFormat } from './request.ts';
import { countInput, listenForUsage, type UsageListener } from './usage-without-reply.ts';
import { countTokensOf } from './token-counts.ts';
import { wireTools } from './tool-names.ts';
import type { ModelCall, ModelReply } from './types.ts';

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

interface Calling {
  /** @param hear is told the words of its replies as they come */
  modelOf: (hear: (words: Words) => void) => Promise<SdkModel>;
  mode: JsonMode;
  warn: (warnings: Warnings) => void;
}

/**
 * Calls a model of a provider. The reply is streamed: a long one sends bytes all along, so that no idle connection is cut.
 * The SDK's own loop over a stream is not used, because it takes several times as long for each piece.
 */
export const callProvider = (call: ModelCall, { modelOf, mode, warn }: Calling): Promise<ModelReply> =>
  withDeadline(call, async (abortSignal, listener) => {
    const hearing = createHearing(call, listener);
    const model = await modelOf(hearing.early);
    const tools = wireTools(call.tools);
    const request = await requestOf(call, { tools, mode, supportedUrls: await model.supportedUrls });
    const { stream, response } = await model.doStream({ ...request, abortSignal });
    return readReply(stream, call, { tools, hearing, warn, headers: response?.headers });
  });

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
