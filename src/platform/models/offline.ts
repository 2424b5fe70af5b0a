/**
 * The offline model: a language model in the AI SDK's sense that needs no provider and always gives the same answer to
 * the same prompt. It says what it is in the first line it writes, reports the tokens of a real tokenizer, offers only
 * tools that were declared, and fails the way a provider does, so that everything behind it is exercised as in earnest.
 * What it writes is composed in `offline/`, from the request and its material, never from instructions.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { APICallError } from '@ai-sdk/provider';
import { canonical, parseJson } from '../core/json.ts';
import { present } from '../core/present.ts';
import { fieldsOf } from '../core/record.ts';
import { parseDirectives, withoutDirectives, type Directives, type ToolDirective } from './offline/directives.ts';
import type { Material } from './offline/material.ts';
import { splitMemories } from './offline/memories.ts';
import { composeJson, composeText } from './offline/reply.ts';
import { detectRole } from './offline/role.ts';
import { readStepPrompt } from './offline/step-prompt.ts';
import { describeSubject, firstLineOf } from './offline/subject.ts';
import { readTranscript, type Transcript } from './offline/transcript.ts';
import { clip, inOneLine } from './offline/words.ts';
import type { CallOptions, SdkModel } from './sdk.ts';
import { OFFLINE } from './resolve.ts';
import type { CountTokens } from './token-counts.ts';

type Result = Awaited<ReturnType<SdkModel['doGenerate']>>;
type Content = Result['content'];
type StreamPart = Awaited<ReturnType<SdkModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** So many transcripts are remembered with their failed calls, for `[[fail:<n>]]`. */
const MAX_COUNTED = 10_000;

/** Arguments come back from the database with their keys in another order. */
const keyOf = ({ tool, input }: ToolDirective): string => `${tool} ${canonical(input)}`;

/** Reads the directives. Those of the system text count once where the request repeats them. */
function directivesOf({ system, request }: Transcript): Directives {
  // Memories are data, whoever wrote them: no directive in one counts.
  const ofSystem = parseDirectives(splitMemories(system).rest);
  const ofRequest = parseDirectives(request);
  const repeated = new Set(ofRequest.turns.flat().map(keyOf));
  const [first = [], ...later] = ofSystem.turns.map((turn) => turn.filter((call) => !repeated.has(keyOf(call))));
  const [firstAsked = [], ...laterAsked] = ofRequest.turns;
  return {
    turns:
      later.length === 0 ? [[...first, ...firstAsked], ...laterAsked] : [first, ...later, firstAsked, ...laterAsked],
    fail: ofRequest.fail ?? ofSystem.fail,
    rejection: ofRequest.rejection ?? ofSystem.rejection,
    sleepMs: Math.max(ofSystem.sleepMs, ofRequest.sleepMs),
    unreadable: [...ofSystem.unreadable, ...ofRequest.unreadable],
  };
}

/** @returns the calls of the first turn that is not done; a directive that stands twice needs two results */
function pendingCalls(turns: readonly ToolDirective[][], { outcomes }: Transcript): ToolDirective[] {
  const done = new Map<string, number>();
  for (const key of outcomes.map(keyOf)) done.set(key, (done.get(key) ?? 0) + 1);
  for (const turn of turns) {
    const pending = turn.filter((call) => {
      const left = done.get(keyOf(call)) ?? 0;
      done.set(keyOf(call), left - 1);
      return left <= 0;
    });
    if (pending.length > 0) return pending;
  }
  return [];
}

/** The first line of a system prompt says who the model is to be; prompts of other roles may speak of reviews too. */
const isReviewer = ({ system }: Transcript): boolean =>
  /\breview/i.test(system.trimStart().slice(0, 1_000).split('\n', 1)[0] ?? '');

const LONGEST_ANSWER = 600;
const LONGEST_MEMORY = 300;
const LONGEST_EARLIER = 80;

/** @returns the answer of a tool as people read it: `{"result":"397.8"}` is 397.8 */
function readableAnswer(result: string): string {
  if (!result.startsWith('{') || result.length > 4 * LONGEST_ANSWER) return result;
  try {
    const [[name, value] = [], ...others] = Object.entries(fieldsOf(parseJson(result)));
    const isBare = name === 'result' && others.length === 0 && typeof value !== 'object';
    return isBare ? String(value) : result;
  } catch {
    return result;
  }
}

/** Gathers what a reply is composed from. Whatever is quoted goes through `withoutDirectives` first. */
function gatherMaterial(transcript: Transcript, directives: Directives, offered: ReadonlySet<string>): Material {
  const { system, earlier, outcomes } = transcript;
  const request = withoutDirectives(transcript.request);
  const step = readStepPrompt(request);
  const { contents, rest } = splitMemories(system);
  // Half a directive could become a whole one with what follows it, so texts are shortened last.
  const quoted = (text: string, max: number) => clip(inOneLine(withoutDirectives(text)), max);
  return {
    request,
    step,
    subject: describeSubject(step ?? { title: '', brief: request }),
    role: detectRole(rest, step?.stepTitle),
    rejection: directives.rejection,
    toolAnswers: outcomes.map(({ result }) => quoted(readableAnswer(result), LONGEST_ANSWER)),
    remembered: contents.map((text) => quoted(text, LONGEST_MEMORY)),
    earlier: earlier.map((text) => clip(firstLineOf(withoutDirectives(text)), LONGEST_EARLIER)).filter(Boolean),
    notes: [
      ...directives.turns
        .flat()
        .filter(({ tool }) => !offered.has(tool))
        .map(({ tool }) => `The directive for ${tool} was not carried out: this run is not offered such a tool.`),
      ...directives.unreadable.map((body) => `A tool directive could not be read: ${quoted(body, 120)}`),
    ],
  };
}

/** @param countTokens counts the tokens of a text */
export function createOfflineModel(countTokens: CountTokens): SdkModel {
  const failedCalls = new Map<string, number>();

  function failIfTold({ fail }: Directives, transcript: Transcript): void {
    if (!fail) return;
    const key = createHash('sha256').update(transcript.text).digest('base64');
    const failed = failedCalls.get(key) ?? 0;
    if (failed >= fail.times) return;
    if (Number.isFinite(fail.times)) {
      if (failedCalls.size >= MAX_COUNTED) failedCalls.delete(present(failedCalls.keys().next().value));
      failedCalls.set(key, failed + 1);
    }
    throw new APICallError({
      message: 'told to fail by a directive',
      url: 'offline:',
      requestBodyValues: {},
      statusCode: fail.status,
    });
  }

  /** Cuts a reply at the limit, as a provider does, so that a call never costs more than was reserved for it. */
  async function limited(
    text: string,
    maxTokens = Infinity,
  ): Promise<{ text: string; tokens: number; isCut: boolean }> {
    let kept = text;
    let tokens = await countTokens(kept);
    while (tokens > maxTokens && kept.length > 0) {
      kept = kept.slice(0, Math.floor((kept.length * maxTokens) / tokens) - 1).toWellFormed();
      tokens = await countTokens(kept);
    }
    return { text: kept, tokens, isCut: kept.length < text.length };
  }

  async function answer(
    options: CallOptions,
    transcript: Transcript,
    directives: Directives,
  ): Promise<{ content: Content; output: number; finish: Result['finishReason'] }> {
    const offered = new Set(options.tools?.map(({ name }) => name));
    const turns = directives.turns.map((turn) => turn.filter(({ tool }) => offered.has(tool)));
    const pending = pendingCalls(turns, transcript);
    if (pending.length > 0) {
      const content = pending.map(({ tool, input }, index) => ({
        type: 'tool-call' as const,
        toolCallId: `offline-${transcript.callCount + index + 1}`,
        toolName: tool,
        input: JSON.stringify(input),
      }));
      const output = await countTokens(content.map((call) => `${call.toolName} ${call.input}`).join('\n'));
      return { content, output, finish: { unified: 'tool-calls', raw: 'tool_calls' } };
    }
    const material = gatherMaterial(transcript, directives, offered);
    const whole =
      options.responseFormat?.type === 'json'
        ? composeJson(material, options.responseFormat.schema ?? { type: 'object' })
        : composeText(material, isReviewer(transcript));
    const { text, tokens, isCut } = await limited(whole, options.maxOutputTokens);
    return {
      content: [{ type: 'text', text }],
      output: tokens,
      finish: isCut ? { unified: 'length', raw: 'length' } : { unified: 'stop', raw: 'stop' },
    };
  }

  async function doGenerate(options: CallOptions): Promise<Result> {
    options.abortSignal?.throwIfAborted();
    const transcript = readTranscript(options.prompt);
    const directives = directivesOf(transcript);
    if (directives.sleepMs > 0) await wait(directives.sleepMs, undefined, { signal: options.abortSignal });
    failIfTold(directives, transcript);

    const { content, output, finish } = await answer(options, transcript, directives);
    const input =
      (await countTokens(transcript.text)) +
      (options.tools?.length ? await countTokens(JSON.stringify(options.tools)) : 0);
    return {
      content,
      finishReason: finish,
      usage: {
        inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: output, text: output, reasoning: undefined },
      },
      warnings: [],
    };
  }

  return {
    specificationVersion: 'v4',
    provider: OFFLINE.provider,
    modelId: OFFLINE.id,
    supportedUrls: {},
    doGenerate,
    async doStream(options) {
      const { content, finishReason, usage } = await doGenerate(options);
      const parts: StreamPart[] = [{ type: 'stream-start', warnings: [] }];
      for (const [index, part] of content.entries()) {
        const id = String(index);
        if (part.type === 'text') {
          parts.push(
            { type: 'text-start', id },
            { type: 'text-delta', id, delta: part.text },
            { type: 'text-end', id },
          );
        } else if (part.type === 'tool-call') parts.push(part);
      }
      parts.push({ type: 'finish', finishReason, usage });
      return { stream: ReadableStream.from(parts) };
    },
  };
}
