/** The integrations, in the order in which they are listed. A new one needs its entry and its line here. */
import type { Slot } from './model.ts';
import type { Integration } from './provider.ts';
import { github, gitlab, linear } from './providers/code.ts';
import { discord, slack, telegram, whatsapp } from './providers/messaging.ts';
import {
  amazonBedrock,
  anthropic,
  azureOpenai,
  google,
  googleVertex,
  mistral,
  openai,
  openaiCompatible,
  openrouter,
} from './providers/models.ts';
import { googleDrive, hubspot, notion, smtp, stripe } from './providers/work.ts';

/**
 * Integrations by slug. It is a Map, because a slug comes from an address and `__proto__` must be as unknown as any
 * other.
 */
export const integrations: ReadonlyMap<string, Integration> = new Map(
  [
    ...[openai, anthropic, google, googleVertex, amazonBedrock, azureOpenai, mistral, openrouter, openaiCompatible],
    ...[github, gitlab, slack, discord, telegram, whatsapp],
    ...[notion, linear, googleDrive, hubspot, stripe, smtp],
  ].map((integration) => [integration.slug, integration]),
);

/** Tools that name the integration alone are given the token of this kind. */
export const tokenKindOf = ({ slots }: Integration): string | undefined =>
  slots.find(({ where }) => where === 'customer_token')?.key;

export const findSlot = ({ slots }: Integration, where: Slot['where'], key: string): Slot | undefined =>
  slots.find((slot) => slot.where === where && slot.key === key);
