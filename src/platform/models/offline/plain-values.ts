/** Makes values that are no sentences: numbers, truth values, choices, dates, addresses and names for machines. */
import type { Field } from './fill-schema.ts';
import { singular, wordsOfName } from './field-names.ts';
import { numberOr } from './schema-node.ts';
import { slugFrom } from './words.ts';

const APPROVING = /^(approv|accept|pass|ok$|yes$|lgtm)/i;
const REJECTING = /^(reject|revis|rework|fail|declin|den(y|ied)|change|request|no$|needs)/i;
const VERDICT_FIELD = /approv|accept|passed|lgtm|^ok$|^is_?valid$/i;
const FAULT_FIELD = /reject|fail|block|issue|problem|error/i;
const BEST_FIELD = /score|rating|confidence|quality/i;
/** Items of one list have the same of these. */
const SAME_CHOICE = /^(shape|motion|style|layout|language|currency)$/i;

/** Nothing was checked, so a placeholder is sure of nothing. */
const UNSURE_FIELD = /^(confidence|certainty)$/i;

export function chooseValue({ name, nth }: Field, values: readonly unknown[], rejection: string | undefined): unknown {
  if (UNSURE_FIELD.test(name) && values.includes('low')) return 'low';
  if (nth > 0) return SAME_CHOICE.test(name) ? values[0] : values[nth % values.length];
  const wanted = rejection === undefined ? APPROVING : REJECTING;
  return values.find((value) => typeof value === 'string' && wanted.test(value)) ?? values[0];
}

export function decideBoolean({ name, nth }: Field, rejection: string | undefined): boolean {
  if (VERDICT_FIELD.test(name)) return rejection === undefined;
  return FAULT_FIELD.test(name) ? rejection !== undefined : nth % 2 === 0;
}

/** What a number of this name usually is. */
const USUAL: ReadonlyMap<string, number> = new Map(
  Object.entries({
    duration_s: 5,
    duration: 5,
    second: 5,
    minute: 20,
    hour: 2,
    day: 7,
    week: 4,
    year: 2027,
    price: 9,
    cost: 9,
    amount: 9,
    fee: 9,
    budget: 500,
    quantity: 3,
    count: 3,
    age: 8,
    percent: 50,
    percentage: 50,
    height: 3,
    width: 3,
    weight: 2,
    size: 3,
    word: 300,
    latitude: 47,
    longitude: 8,
  }),
);

/** @param isInteger asks for a number without fractions */
export function chooseNumber({ node, name, nth }: Field, isInteger: boolean, rejection: string | undefined): number {
  const step = numberOr(node.multipleOf, isInteger ? 1 : undefined);
  const low = Math.max(numberOr(node.minimum, -Infinity), numberOr(node.exclusiveMinimum, -Infinity));
  const high = Math.min(numberOr(node.maximum, Infinity), numberOr(node.exclusiveMaximum, Infinity));
  const isOpen = (value: number) => value === node.exclusiveMinimum || value === node.exclusiveMaximum;
  const isAllowed = (value: number) =>
    Number.isFinite(value) &&
    value >= low &&
    value <= high &&
    !isOpen(value) &&
    (!step || Number.isInteger(value / step));
  const onStep = (value: number) => (step ? Math.ceil(value / step) * step : value);

  const words = wordsOfName(name);
  if (words.at(-1) === 'points' && isAllowed(1 + (nth % 3))) return 1 + (nth % 3);
  const usual = [words.join('_'), words.at(-1) ?? '']
    .map((word) => USUAL.get(word))
    .find((value) => value !== undefined);
  // Several lengths of time or sizes may be equal; the items of a list of numbers may have to differ.
  const listed = USUAL.get(singular(words.at(-1) ?? ''));
  // An approving reviewer gives full marks.
  const best = BEST_FIELD.test(name) && rejection === undefined ? [high] : [];
  const start = onStep(low > -Infinity ? low : Math.min(1, high));
  const spread = step ?? (high - low < 100 ? (high - low) / 101 : 1);
  const candidates = [
    ...best,
    ...(usual === undefined ? [] : [usual]),
    ...(listed === undefined ? [] : [listed + nth]),
    ...[start + nth * spread, start + (nth + 1) * spread, start, onStep(high) - spread, 0],
  ];
  return candidates.find(isAllowed) ?? 0;
}

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2027, 0, 4);
const dayAt = (nth: number): string => new Date(FIRST_DAY + Math.min(nth, 5_000) * 7 * DAY_MS).toISOString();
const numbered = (text: string, nth: number): string => (nth === 0 ? text : `${text}-${nth + 1}`);

/** By the format that a schema demands. */
const BY_FORMAT: Readonly<Record<string, (slug: string, nth: number) => string>> = {
  'date-time': (_, nth) => dayAt(nth),
  date: (_, nth) => dayAt(nth).slice(0, 10),
  time: () => '09:00:00Z',
  email: (_, nth) => `${numbered('placeholder', nth)}@example.com`,
  uri: (slug, nth) => `https://example.com/${numbered(slug, nth)}`,
  url: (slug, nth) => `https://example.com/${numbered(slug, nth)}`,
  hostname: (_, nth) => (nth === 0 ? 'example.com' : `host-${nth + 1}.example.com`),
  ipv4: (_, nth) => `192.0.2.${(nth % 254) + 1}`,
  uuid: (_, nth) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
};

const COLOURS = ['#2f5dd0', '#c8452f', '#2f7f8c', '#b5694f', '#5e9b52', '#6a5ba3', '#e0a98a', '#1f2430'];
const SIGNS = ['⭐', '💡', '📌', '🌱', '☕', '📖', '🔔', '🧭'];
const ENDPOINTS = [
  '/entries',
  '/entries',
  '/entries/{id}',
  '/entries/{id}',
  '/search',
  '/members',
  '/export',
  '/health',
];

/** By the last word of a name. */
const BY_NAME: ReadonlyMap<string, (slug: string, nth: number, max: number) => string> = new Map(
  Object.entries<(slug: string, nth: number, max: number) => string>({
    slug: (slug, nth) => numbered(slug, nth),
    handle: (slug, nth) => numbered(slug, nth),
    id: (slug, nth) => numbered(slug, nth),
    identifier: (slug, nth) => numbered(slug, nth),
    key: (slug, nth) => numbered(slug, nth),
    sku: (_, nth) => `ITEM-${nth + 1}`,
    reference: (_, nth) => `REF-${nth + 1}`,
    url: (slug, nth) => `https://example.com/${numbered(slug, nth)}`,
    uri: (slug, nth) => `https://example.com/${numbered(slug, nth)}`,
    link: (slug, nth) => `https://example.com/${numbered(slug, nth)}`,
    href: (slug, nth) => `https://example.com/${numbered(slug, nth)}`,
    website: () => 'https://example.com',
    email: (_, nth) => `${numbered('placeholder', nth)}@example.com`,
    phone: (_, nth) => `+44 20 7946 ${String(100 + (nth % 800)).padStart(4, '0')}`,
    date: (_, nth) => dayAt(nth).slice(0, 10),
    deadline: (_, nth) => dayAt(nth).slice(0, 10),
    due: (_, nth) => dayAt(nth).slice(0, 10),
    timezone: () => 'UTC',
    price: priceFor,
    cost: priceFor,
    fee: priceFor,
    currency: () => 'USD',
    country: () => 'GB',
    language: () => 'en',
    locale: () => 'en',
    lang: () => 'en',
    colour: (_, nth) => COLOURS[nth % COLOURS.length] ?? '#2f5dd0',
    color: (_, nth) => COLOURS[nth % COLOURS.length] ?? '#2f5dd0',
    hex: (_, nth) => COLOURS[nth % COLOURS.length] ?? '#2f5dd0',
    icon: (_, nth) => SIGNS[nth % SIGNS.length] ?? '⭐',
    emoji: (_, nth) => SIGNS[nth % SIGNS.length] ?? '⭐',
    version: (_, nth) => `0.${nth + 1}.0`,
    time: (_, nth) => `${String(9 + (nth % 10)).padStart(2, '0')}:00`,
    endpoint: (_, nth) => ENDPOINTS[nth % ENDPOINTS.length] ?? '/entries',
  }),
);

function priceFor(_: string, nth: number, max: number): string {
  const price = `${9 + 10 * (nth % 50)} US dollars a month`;
  return max < 90 ? price : `About ${price}. This is a guess until somebody has been asked.`;
}

/** By the words with which a description begins, if the name says nothing. */
const BY_DESCRIPTION: readonly (readonly [string, RegExp])[] = [
  ['url', /^(?:an? |the )?(?:full )?(?:url|web address|link|https? address)\b/i],
  ['colour', /^(?:an? |the )?(?:hex )?colou?r\b/i],
  ['email', /^(?:an? |the )?e-?mail(?: address)?\b/i],
  ['date', /^(?:an? |the )?(?:iso )?date\b/i],
  ['price', /^(?:an? |the )?price\b/i],
  ['phone', /^(?:an? |the )?(?:tele)?phone number\b/i],
];

/** @returns a text that a program reads; undefined for a field that people read */
export function machineText(
  { node, name, nth, siblings }: Field,
  slug: string,
  max: number,
  isKnown: boolean,
): string | undefined {
  const { format, description } = node;
  if (typeof format === 'string' && Object.hasOwn(BY_FORMAT, format)) return BY_FORMAT[format]?.(slug, nth);
  const word = singular(wordsOfName(name).at(-1) ?? '');
  if (word === 'path' && Object.hasOwn(siblings, 'method')) return BY_NAME.get('endpoint')?.(slug, nth, max);
  const label = siblings.name ?? siblings.title;
  const own = typeof label === 'string' ? slugFrom(label) : '';
  const byName = BY_NAME.get(word);
  if (byName) return byName(own || slug, own ? 0 : nth, max);
  if (isKnown || typeof description !== 'string') return undefined;
  const start = description.slice(0, 60);
  const kind = BY_DESCRIPTION.find(([, pattern]) => pattern.test(start))?.[0];
  return kind === undefined ? undefined : BY_NAME.get(kind)?.(slug, nth, max);
}
