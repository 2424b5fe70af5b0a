/**
 * Times and traces the calls of models. A call is told by the model, the figures and how it ended, never by what was
 * said. The names are those of OpenTelemetry's conventions for generative AI.
 */
import { SpanKind } from '@opentelemetry/api';
import type { Meters } from '../observability/meters.ts';
import { inSpan } from '../observability/spans.ts';
import { SNAPSHOT } from './known-models.ts';
import { ModelFailure, PROVIDER_NAMES, type Models } from './types.ts';

/** Gives the label of a model: the name where the deployment knows it, `other` for what tenants name besides. */
export type ModelLabel = (model: string) => string;

/** @param operators the model of the operator's own server */
export const modelLabels = (operators: string | undefined, { catalogue }: Pick<Models, 'catalogue'>): ModelLabel => {
  const isKnown = (id: string) => PROVIDER_NAMES.some((name) => catalogue().idsOf(name).includes(id));
  return (model) => {
    if (model === 'offline' || model === operators) return model;
    return [model, model.replace(SNAPSHOT, '')].find(isKnown) ?? 'other';
  };
};

export const meteredModels = (models: Models, meters: Pick<Meters, 'modelCalls'>, labelOf: ModelLabel): Models => ({
  ...models,
  call(call) {
    const { model, provider } = call.resolved;
    const end = meters.modelCalls.startTimer({ provider, model: labelOf(model) });
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
      'gen_ai.request.max_tokens': call.maxOutputTokens,
    };
    return inSpan(`chat ${labelOf(model)}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        const reply = await models.call(call);
        span.setAttributes({
          'gen_ai.usage.input_tokens': reply.usage.inputTokens,
          'gen_ai.usage.output_tokens': reply.usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': reply.usage.cacheReadTokens,
          'gen_ai.usage.cache_creation.input_tokens': reply.usage.cacheWriteTokens,
          'gen_ai.response.finish_reasons': [reply.finishReason],
        });
        end({ outcome: 'succeeded' });
        return reply;
      } catch (error) {
        end({ outcome: outcomeOf(error, call.signal) });
        throw error;
      }
    });
  },
});

function outcomeOf(error: unknown, { aborted }: AbortSignal): string {
  if (error instanceof ModelFailure) return error.code;
  return aborted ? 'cancelled' : 'internal_error';
}
