import { PROVIDER_NAMES, type ProviderName } from '../../../../src/platform/models/types.ts';
import { ANTHROPIC } from './anthropic.ts';
import { AZURE } from './azure.ts';
import { BEDROCK } from './bedrock.ts';
import { GOOGLE, VERTEX } from './google.ts';
import { MISTRAL } from './mistral.ts';
import { OPENAI_COMPATIBLE } from './openai-compatible.ts';
import { OPENAI } from './openai.ts';
import { CAPABILITIES, type Wire } from './wire.ts';

/** A new provider does not compile without its own. */
export const WIRES: Readonly<Record<ProviderName, Wire>> = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  google: GOOGLE,
  'google-vertex': VERTEX,
  'amazon-bedrock': BEDROCK,
  'azure-openai': AZURE,
  mistral: MISTRAL,
  'openai-compatible': OPENAI_COMPATIBLE,
};

/** One for each test, and for each cell of the table for operators. */
export const CELLS = PROVIDER_NAMES.flatMap((name) =>
  CAPABILITIES.map((capability) => ({ name: `${WIRES[name].label}: ${capability}`, wire: WIRES[name], capability })),
);
