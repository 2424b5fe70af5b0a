/** What the AI SDK's models take and give, under names of ours. */
import type { LanguageModel } from 'ai';

/** A model object of the AI SDK, as opposed to the id of one at its gateway. */
export type SdkModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
export type CallOptions = Parameters<SdkModel['doGenerate']>[0];
export type Prompt = CallOptions['prompt'];
/** What it makes of a provider's stream. */
export type StreamPart =
  Awaited<ReturnType<SdkModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;
export type Warnings = Extract<StreamPart, { type: 'stream-start' }>['warnings'];
export type SdkUsage = Extract<StreamPart, { type: 'finish' }>['usage'];
