/** Declares the settings of the providers of models, and of calls of models. */
import { z } from 'zod';
import { duration, flag, integer, list, optionalInteger, tokenPrice, url } from './setting-types.ts';

/** What comes after the address is put behind it, and `fetch` takes no credentials in one. */
const plainUrl = url.refine((text) => {
  const { username, password, search } = new URL(text);
  return !username && !password && !search;
}, 'expects an address without a user, a password and a query');

/** An address, or a host and port, as other programs take it. */
const proxy = z
  .string()
  .refine(
    (text) => /^https?:\/\/./i.test(text) && URL.canParse(text),
    'expects the address of an HTTP proxy, such as http://proxy.example.com:3128',
  )
  .optional();

export const modelSettings = {
  HTTPS_PROXY: proxy.describe(
    'Calls of addresses that settings name, or that providers of models publish, go through this proxy. What a workspace or a model names does not: it is called directly, so that private addresses stay out of reach',
  ),
  HTTP_PROXY: proxy.describe('The same, for addresses with http'),
  NO_PROXY: z
    .string()
    .optional()
    .describe('Hosts that are called without it, separated by commas, such as localhost,127.0.0.1,.internal'),
  ANTHROPIC_API_KEY: z.string().min(1).optional().describe('Use Anthropic models'),
  ANTHROPIC_BASE_URL: plainUrl
    .optional()
    .describe('Another address for Anthropic, version path included: https://example.com/v1'),
  OPENAI_API_KEY: z.string().min(1).optional().describe('Use OpenAI models'),
  OPENAI_BASE_URL: plainUrl.optional().describe('Another address for OpenAI, version path included'),
  GOOGLE_API_KEY: z.string().min(1).optional().describe('Use Gemini models (a key of the Gemini API)'),
  GOOGLE_BASE_URL: plainUrl
    .optional()
    .describe('Another address for the Gemini API, version path included: https://example.com/v1beta'),
  VERTEX_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('Use Gemini models of Vertex AI as `vertex/<model>` (a key of its express mode)'),
  VERTEX_BASE_URL: plainUrl
    .optional()
    .describe('Another address for Vertex AI: https://aiplatform.googleapis.com/v1/publishers/google'),
  BEDROCK_REGION: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expects a region of AWS, such as eu-central-1')
    .optional()
    .describe('Use models of Amazon Bedrock in this region, with one of the two kinds of credential below'),
  AWS_BEARER_TOKEN_BEDROCK: z.string().min(1).optional().describe('An API key of Amazon Bedrock'),
  BEDROCK_ACCESS_KEY_ID: z.string().min(1).optional().describe('An access key of AWS, in place of the API key'),
  BEDROCK_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Its secret'),
  BEDROCK_SESSION_TOKEN: z.string().min(1).optional().describe('Its session, for one that lasts a while only'),
  BEDROCK_BASE_URL: plainUrl.optional().describe('Another address for Amazon Bedrock, such as that of a VPC endpoint'),
  AZURE_OPENAI_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('Use deployments of Azure OpenAI as `azure/<deployment>`; the next two are needed too'),
  AZURE_OPENAI_BASE_URL: plainUrl
    .optional()
    .describe('Address of the resource: https://<resource>.openai.azure.com/openai'),
  AZURE_OPENAI_DEPLOYMENT: z.string().min(1).optional().describe('The deployment that agents use there'),
  AZURE_OPENAI_API_VERSION: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'expects a date such as 2024-10-21')
    .optional()
    .describe('Calls deployments in this dated version of the API; without it, in version v1'),
  MISTRAL_API_KEY: z.string().min(1).optional().describe('Use models of Mistral'),
  MISTRAL_BASE_URL: plainUrl.optional().describe('Another address for Mistral, version path included'),
  OPENAI_COMPATIBLE_BASE_URL: url
    .optional()
    .describe(
      'Any address that speaks the OpenAI chat protocol; a user with a password and a query such as ?api-version=1 may stand in it',
    ),
  OPENAI_COMPATIBLE_API_KEY: z.string().optional().describe('Its key'),
  OPENAI_COMPATIBLE_MODEL: z.string().default('default').describe('The model id that agents use there'),
  OPENAI_COMPATIBLE_SEES: flag.describe(
    'Its model sees pictures, as llava and qwen-vl do: those that agents read are sent to it',
  ),
  OPENAI_COMPATIBLE_PRICE: tokenPrice.describe(
    'What its model costs: 0 (a server of your own), or US dollars for a million tokens as <input>,<output>; without it budgets cannot be kept there',
  ),
  MODEL_PRICES: z
    .string()
    .optional()
    .describe(
      'JSON file {model: {input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok?, cache_write_usd_per_mtok?}} that overrides or adds prices',
    ),
  MODEL_CATALOGUE: z
    .string()
    .optional()
    .describe(
      'JSON or YAML file {models: [{id, provider, tier?, context_window?, max_output?, sees?, efforts?, price?}]} that adds models, or overrides what is known of them',
    ),
  MODEL_FALLBACKS: list.describe(
    'Ids of models, with commas between, that are asked in this order while the provider of a model is out, where its agent is built in or leaves the choice to the service; agents have fallback_models of their own',
  ),
  MODEL_TIMEOUT: duration('5m').describe('Longest single model call'),
  MODEL_MAX_RETRY_AFTER: duration('10m').describe(
    'A call fails if the provider asks to wait for longer (Retry-After) before it is made again',
  ),
  MODEL_MAX_OUTPUT_TOKENS: optionalInteger(1, 1_000_000).describe(
    'Most tokens one reply may have. Without it: as many as the model can write, its window holds and budgets can pay; 4,096 of a model of which nothing is known',
  ),
  MODEL_MAX_CONTINUATIONS: integer(4, 0, 100).describe(
    'A text that is cut off by the limit of output tokens goes on in so many further turns; after that the run fails',
  ),
  MODEL_MAX_REPLY_MB: integer(64, 1, 1_024).describe(
    'Most megabytes that are read of one reply, decompressed; less where fewer tokens were asked for',
  ),
};
