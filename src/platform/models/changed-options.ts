import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';

type Ask<Told> = (options: LanguageModelV4CallOptions) => Told;

/** @returns the model, each call of which is made by `call` */
export const withCalls = (
  model: LanguageModelV4,
  call: <Told>(ask: Ask<Told>, options: LanguageModelV4CallOptions) => Told,
): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  doGenerate: (options) => call((given) => model.doGenerate(given), options),
  doStream: (options) => call((given) => model.doStream(given), options),
});

/** @returns the model, which is asked with what `change` makes of the options of each call */
export const withOptions = (
  model: LanguageModelV4,
  change: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 => withCalls(model, (ask, options) => ask(change(options)));
