/**
 * What is known of models: from the packaged data of `@pydantic/genai-prices`, and from the operator's file
 * (`MODEL_CATALOGUE`), which adds to it and wins. Nothing here names a model by its full id but the lists of what is
 * preferred.
 */
import type * as GenaiPrices from '@pydantic/genai-prices';
import { z } from 'zod';
import { ConfigError, faultsIn, type Config } from '../core/config.ts';
import { EFFORTS } from '../core/effort.ts';
import { readSettingFile } from '../core/setting-file.ts';
import { whenUsed } from '../core/when-used.ts';
import { idAtProvider } from './catalogue.ts';
import { PROVIDER_NAMES, type Catalogue, type ProviderName, type ProviderTier } from './types.ts';

export const TIERS = ['fast', 'standard', 'deep'] as const satisfies ProviderTier[];

const usdPerMillionTokens = z.number('expects US dollars for a million tokens').min(0);
const Price = z.strictObject({
  input_usd_per_mtok: usdPerMillionTokens,
  output_usd_per_mtok: usdPerMillionTokens,
  cache_read_usd_per_mtok: usdPerMillionTokens.optional(),
  cache_write_usd_per_mtok: usdPerMillionTokens.optional(),
});
const PriceFile = z.record(z.string(), Price);

const tokens = z.int('expects a number of tokens').min(1).max(1_000_000_000);
const Entry = z.strictObject({
  id: z.string('expects the id of the model').min(1),
  provider: z.enum(PROVIDER_NAMES, `expects one of ${PROVIDER_NAMES.join(', ')}`),
  tier: z.enum(TIERS, `expects one of ${TIERS.join(', ')}`).optional(),
  context_window: tokens.optional(),
  max_output: tokens.optional(),
  sees: z.boolean('expects true or false').optional(),
  efforts: z
    .array(z.enum(EFFORTS, `expects one of ${EFFORTS.join(', ')}`), 'expects a list of efforts, which may be empty')
    .optional(),
  price: Price.optional(),
});
const CatalogueFile = z.strictObject({ models: z.array(Entry, 'expects a list of models') });

/** @throws ConfigError that names the file and the entry */
function read<Shape extends z.ZodType>(setting: string, path: string | undefined, shape: Shape) {
  if (path === undefined) return undefined;
  const parsed = shape.safeParse(readSettingFile(setting, path));
  if (parsed.success) return parsed.data;
  throw new ConfigError(faultsIn(`${setting}: ${path}`, parsed.error));
}

/** It takes 35 ms and 19 MB. */
const packagedPrices = whenUsed<typeof GenaiPrices>('@pydantic/genai-prices');

/** What the data calls a provider, where it has its models. */
const IN_DATA: { readonly [Name in ProviderName]?: string } = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  'google-vertex': 'google',
  'amazon-bedrock': 'aws',
  'azure-openai': 'azure',
  mistral: 'mistral',
};

/**
 * An id with such a suffix (`claude-sonnet-4-5-20250929`, `gpt-5.5-2026-04-23`, `...-latest`) names the same model as
 * without it.
 */
export const SNAPSHOT = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** @param provider whose model it is; OpenRouter's for the managed model router @returns the entry that tells of it */
export function packagedModel(
  id: string,
  provider: ProviderName | 'openrouter',
  usage: GenaiPrices.Usage = { input_tokens: 1 },
): GenaiPrices.PriceCalculationResult {
  const providerId = provider === 'openrouter' ? provider : IN_DATA[provider];
  const found = providerId === undefined ? null : packagedPrices().calcPrice(usage, id, { providerId });
  // Some entries match by prefix, so that a newer version (`-5-5`) would get the price of the older (`-5`).
  const isNewerVersion =
    found && id.startsWith(found.model.id) && /^[-.]\d{1,2}(\D|$)/.test(id.slice(found.model.id.length));
  return isNewerVersion ? null : found;
}

/** The data has models that do not write text, too. */
const NO_TEXT =
  /embed|whisper|transcribe|tts|image|audio|realtime|moderation|ocr|sonic|live|omni|search|voxtral|computer-use|instruct$|extended|:free|\.ft-|-$|^(ada|babbage|curie|davinci|text-davinci-\d+)$/;

/**
 * The data does not tell the largest output. These are the limits that the makers of the models document; the first
 * that fits an id counts, wherever that model is called. A model that none fits may write what its window holds.
 */
const LARGEST_OUTPUTS: readonly [RegExp, number][] = [
  [/claude-(v?[12]\b|instant|3-(haiku|opus|sonnet))/, 4_096],
  [/claude-3-5/, 8_192],
  [/claude-opus-4(-[01])?(-\d{8})?(?!-?\d)/, 32_000],
  [/claude-(3-7|sonnet-4|opus-4-5|haiku-4-5)(?!-6)/, 64_000],
  [/claude/, 128_000],
  [/gpt-(3\.5|4(?![.o]))/, 4_096],
  [/gpt-4o|chatgpt-4o/, 16_384],
  [/gpt-4\.1/, 32_768],
  [/(^|[./])o\d|codex-mini/, 100_000],
  [/gpt-[5-9]/, 128_000],
  [/gemini-(1|2\.0|pro$|flash-1)/, 8_192],
  [/gemini/, 65_536],
  [/nova-(lite|micro|pro|premier)/, 10_000],
  [/llama-?3/, 8_192],
];

const GEMINI = { fast: 'gemini-3.5-flash-lite', standard: 'gemini-3.8-flash', deep: 'gemini-3.1-pro-preview' };
const OPEN_WEIGHTS = /llama/;

/** The preferred models of each tier, where the operator's file names none. */
const PREFERRED: { readonly [Name in ProviderName]?: Readonly<Record<ProviderTier, string>> } = {
  anthropic: { fast: 'claude-haiku-4-5', standard: 'claude-sonnet-5', deep: 'claude-opus-5-5' },
  openai: { fast: 'gpt-6-luna', standard: 'gpt-6-sol', deep: 'gpt-6-astra' },
  google: GEMINI,
  'google-vertex': GEMINI,
  'amazon-bedrock': {
    fast: 'global.anthropic.claude-haiku-4-5-20251001-v1:0',
    standard: 'global.anthropic.claude-sonnet-5-v1:0',
    deep: 'global.anthropic.claude-opus-5-5',
  },
  mistral: { fast: 'mistral-small-latest', standard: 'mistral-medium-latest', deep: 'mistral-large-latest' },
};

/** Names of sizes, as makers of models have them. */
const FAST = /haiku|mini\b|nano|flash|lite|luna|micro|small|ministral|tiny/;
const DEEP = /opus|fable|astra|terra|premier|-pro\b|(^|[./])o\d(?!-mini)/;
const tierBySpelling = (id: string): ProviderTier => (FAST.test(id) ? 'fast' : DEEP.test(id) ? 'deep' : 'standard');

/** The data has models at other addresses of a provider, and names for several, too. */
const OFFERED: { readonly [Name in ProviderName]?: RegExp } = {
  google: /^gemini-/,
  'google-vertex': /^gemini-/,
  'amazon-bedrock': /^(?!regional\.)/,
  // A deployment has the name that its owner gives it.
  'azure-openai': /^$/,
};

/** Models that see, by their spelling. Of a server of one's own whoever names it says so. */
const SEEING: { readonly [Name in ProviderName]?: RegExp } = {
  anthropic: /^/,
  openai: /^(gpt-(4o|4\.1|[5-9])|o[13](?!-mini)|o4)/,
  google: /^gemini-/,
  'google-vertex': /^gemini-/,
  'amazon-bedrock': /claude-|nova-(2-)?(lite|pro|premier)/,
  'azure-openai': /^gpt-(4o|4\.1|[5-9])/,
  mistral: /^(pixtral|mistral-(small|medium|large)-(latest|2[5-9]))/,
};

/** @throws ConfigError that names the file and the entry */
export function readCatalogue({
  MODEL_CATALOGUE: file,
  MODEL_PRICES: priceFile,
}: Partial<Pick<Config, 'MODEL_CATALOGUE' | 'MODEL_PRICES'>>): Catalogue {
  // People write an id as they name the model, with what says whose it is, or as its provider has it.
  const own = (read('MODEL_CATALOGUE', file, CatalogueFile)?.models ?? []).map((entry) => ({
    ...entry,
    id: idAtProvider(entry.id, entry.provider),
  }));
  const prices = new Map(Object.entries(read('MODEL_PRICES', priceFile, PriceFile) ?? {}));
  const twice = own.find((one, at) => own.findIndex((other) => isSame(one, other)) !== at);
  if (twice) throw new ConfigError(`MODEL_CATALOGUE: ${file}: ${twice.provider} has ${twice.id} twice`);

  /** Metrics ask for them with each call. */
  const ids = new Map<ProviderName, readonly string[]>();

  const entryOf = (id: string, provider: ProviderName) =>
    own.find((entry) => isSame(entry, { id, provider })) ??
    own.find((entry) => isSame(entry, { id: id.replace(SNAPSHOT, ''), provider }));

  const describe: Catalogue['describe'] = (id, provider, unknownWindow) => {
    const entry = entryOf(id, provider);
    const told = packagedModel(id, provider)?.model.context_window;
    const knownWindow = entry?.context_window ?? told;
    const contextWindow = knownWindow ?? unknownWindow;
    const documented = LARGEST_OUTPUTS.find(([family]) => family.test(id))?.[1];
    // Whoever serves open weights decides how much they hold.
    const isServed = provider === 'openai-compatible' && OPEN_WEIGHTS.test(id);
    const isKnown = (entry?.max_output ?? knownWindow ?? (isServed ? undefined : documented)) !== undefined;
    const largest = documented ?? contextWindow;
    return {
      id,
      provider,
      tier: entry?.tier ?? tierBySpelling(id),
      contextWindow,
      maxOutput: entry?.max_output ?? Math.min(largest, contextWindow),
      sees: entry?.sees ?? SEEING[provider]?.test(id) ?? false,
      ...(!isKnown && { isOutputUnknown: true as const }),
      ...(entry?.efforts && { efforts: entry.efforts }),
    };
  };

  return {
    describe,
    idsOf(provider) {
      const listed = ids.get(provider);
      if (listed) return listed;
      const inData = IN_DATA[provider];
      const packaged =
        inData === undefined ? [] : (packagedPrices().findProvider({ providerId: inData })?.models ?? []);
      const offered = OFFERED[provider] ?? /^/;
      const offeredIds = packaged
        .filter(({ deprecated, id }) => !deprecated && !NO_TEXT.test(id) && offered.test(id))
        .map(({ id }) => id);
      const owned = own.filter((entry) => entry.provider === provider).map(({ id }) => id);
      const all = [...new Set([...owned, ...offeredIds])];
      ids.set(provider, all);
      return all;
    },
    providerOf: (id) => own.find((entry) => entry.id === id)?.provider,
    preferred: (tier, provider, given) =>
      own.find((entry) => entry.provider === provider && entry.tier === tier)?.id ??
      given ??
      PREFERRED[provider]?.[tier],
    priceOf: (id, provider) => prices.get(id) ?? own.find((entry) => isSame(entry, { id, provider }))?.price,
  };
}

const isSame = (one: { id: string; provider: string }, other: { id: string; provider: string }): boolean =>
  one.id === other.id && one.provider === other.provider;
