/** Tells from the name of a field what belongs into it. */
import type { Field } from './fill-schema.ts';
import { ARTICLES } from './stock/articles.ts';
import { COMMON } from './stock/common.ts';
import { LESSONS } from './stock/lessons.ts';
import { PRODUCTS } from './stock/products.ts';

const STOCK: ReadonlyMap<string, readonly string[]> = new Map(
  [COMMON, ARTICLES, PRODUCTS, LESSONS].flatMap((stock) => Object.entries(stock)),
);

export const stockOf = (key: string): readonly string[] => STOCK.get(key) ?? [];

/** Names that mean what another name means. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    subject: 'title',
    topic: 'title',
    subline: 'hero.subline',
    slogan: 'tagline',
    motto: 'tagline',
    overview: 'summary',
    abstract: 'summary',
    introduction: 'opening',
    intro: 'opening',
    hook: 'opening',
    conclusion: 'ending',
    outro: 'ending',
    moral: 'under_the_story',
    rationale: 'reason',
    why: 'reason',
    benefit: 'reason',
    cta: 'button',
    action: 'task',
    todo: 'task',
    milestone: 'task',
    deliverable: 'task',
    instruction: 'step',
    challenge: 'risk',
    problem: 'risk',
    persona: 'audience',
    user: 'audience',
    target: 'audience',
    criteria: 'acceptance',
    keyword: 'term',
    hashtag: 'tag',
    objective: 'goal',
    mission: 'goal',
    comment: 'note',
    remark: 'note',
    claim: 'angle',
    fact: 'statement',
    gap: 'unknown',
    prompt: 'question',
    faq: 'question',
    place: 'location',
    city: 'location',
    venue: 'location',
    owner: 'person',
    speaker: 'person',
    byline: 'author',
    'person.name': 'full_name',
    'people.name': 'full_name',
    'member.name': 'full_name',
    'author.name': 'full_name',
    'speaker.name': 'full_name',
    'contact.name': 'full_name',
    company_name: 'company',
    organisation: 'company',
    organization: 'company',
    scene: 'picture',
  }),
);

const MAX_NAME = 80;
const MOST_BESIDE = 20;

/** Splits `metaTitle`, `meta_title` and `meta-title` into `meta` and `title`. */
export const wordsOfName = (name: string): string[] =>
  name
    .slice(0, MAX_NAME)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);

/** @returns the word for one of several: `stories` becomes `story` */
export function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  return word.endsWith('s') && !word.endsWith('ss') && word.length > 3 ? word.slice(0, -1) : word;
}

/** @returns the key of the stock for a field; undefined if its name says nothing */
export function stockKey({ parent, name, beside }: Pick<Field, 'parent' | 'name' | 'beside'>): string | undefined {
  const words = wordsOfName(name);
  const around = singular(wordsOfName(parent).at(-1) ?? '');
  const last = words.at(-1) ?? '';
  const first = words[0] ?? '';
  const whole = words.join('_');
  const candidates = [
    `${around}.${whole}`,
    `${around}.${singular(last)}`,
    ...beside.slice(0, MOST_BESIDE).map((other) => `${other}+${whole}`),
    whole,
    singular(whole),
    ...[last, first].flatMap((word) => [singular(word), word]),
  ];
  for (const candidate of candidates) {
    const key = SYNONYMS.get(candidate) ?? candidate;
    if (STOCK.has(key)) return key;
  }
  return undefined;
}
