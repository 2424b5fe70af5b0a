/**
 * Makes single values for the schema filler: the text, number or choice that a field asks for, from what is known of
 * the request.
 */
import { RE2JS } from 're2js';
import { first, itemAt, present } from '../core/present.ts';
import { clip } from './offline-reply.ts';

export type SchemaNode = Record<string, unknown>;

/** Values speak of this. */
export interface Facts {
  title: string;
  /** A longer text for fields that hold a document. */
  answer: string;
  /** Short statements, at least one; items of a list get one each. */
  sentences: readonly string[];
  /** A reviewer rejects for this reason; without one everything is approved. */
  rejection?: string;
}

const APPROVING = /^(approv|accept|pass|ok$|yes$|lgtm)/i;
const REJECTING = /^(reject|revis|rework|fail|declin|den(y|ied)|change|request|no$|needs)/i;
const VERDICT_FIELD = /approv|accept|passed|lgtm|^ok$|^is_?valid$/i;
const FAULT_FIELD = /reject|fail|block|issue|problem|error/i;
const REASON_FIELD = /feedback|reason|comment|note|issue|change|explanation/i;
const TITLE_FIELD = /title|name|headline|subject|label/i;
const DOCUMENT_FIELD = /content|body|markdown|text|report|answer|draft|article|output|document/i;

const BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'offline@example.com',
  uri: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** These are tried against a `pattern`. */
const PATTERN_EXAMPLES =
  'offline a A ab AB ABC Abc 0 1 00 0000 00000 A1 v1 v1.0 1.0 1.0.0 #336699 12:00 12:00:00 2026-01-01 id-USD en en-GB a@b.co a/b +10000000000'.split(
    ' ',
  );
const MAX_PATTERN_TEXT = 12;
const MAX_CHARACTERS = 10_000;

export const numberOr = <T>(value: unknown, fallback: T): number | T => (typeof value === 'number' ? value : fallback);

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '');

/** Gathers facts from a request and the answer to it. */
export function factsOf({ request, ...facts }: Omit<Facts, 'sentences'> & { request: string }): Facts {
  const sentences = request
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => clip(sentence.replace(/^[#>*\-\s]+/, '').trim(), 300))
    .filter(Boolean)
    .slice(0, 20);
  return { ...facts, sentences: sentences.length > 0 ? sentences : [facts.title] };
}

export function fillEnum(values: readonly unknown[], nth: number, { rejection }: Facts): unknown {
  if (nth > 0) return values[nth % values.length];
  const wanted = rejection === undefined ? APPROVING : REJECTING;
  return values.find((value) => typeof value === 'string' && wanted.test(value)) ?? values[0];
}

export function fillBoolean(name: string, nth: number, { rejection }: Facts): boolean {
  if (VERDICT_FIELD.test(name)) return rejection === undefined;
  return FAULT_FIELD.test(name) ? rejection !== undefined : nth % 2 === 0;
}

/** @param isInteger asks for a number without fractions */
export function fillNumber(
  node: SchemaNode,
  isInteger: boolean,
  name: string,
  nth: number,
  { rejection }: Facts,
): number {
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

  // An approving reviewer gives full marks.
  const best = /score|rating|confidence|quality/i.test(name) && rejection === undefined ? [high] : [];
  const start = onStep(low > -Infinity ? low : Math.min(1, high));
  const spread = step ?? (high - low < 100 ? (high - low) / 101 : 1);
  const candidates = [...best, start + nth * spread, start + (nth + 1) * spread, start, onStep(high) - spread, 0];
  return candidates.find(isAllowed) ?? 0;
}

function textFor(name: string, nth: number, { title, answer, sentences, rejection }: Facts): string {
  if (nth >= sentences.length) return `${nth + 1}. ${itemAt(sentences, nth % sentences.length)}`;
  if (nth > 0) return itemAt(sentences, nth);
  if (REASON_FIELD.test(name)) return rejection ?? 'No objections.';
  if (/slug|^id$/i.test(name)) return slug(title);
  if (TITLE_FIELD.test(name)) return title;
  return DOCUMENT_FIELD.test(name) ? answer : first(sentences);
}

export function fillString(node: SchemaNode, name: string, nth: number, facts: Facts): string {
  const max = Math.min(numberOr(node.maxLength, Infinity), MAX_CHARACTERS);
  const min = Math.min(numberOr(node.minLength, 0), max);
  const fit = (text: string) => {
    const characters = [...(text || '.')]; // JSON Schema counts lengths in code points.
    for (let at = 0; characters.length < min; at += 1) characters.push(itemAt(characters, at));
    return characters.slice(0, max).join('');
  };
  if (typeof node.pattern === 'string') {
    const [given] = Array.isArray(node.examples) ? node.examples : [];
    if (typeof given === 'string') return given;
    try {
      const pattern = RE2JS.compile(node.pattern);
      const isMatch = (text: string) => text.length <= MAX_PATTERN_TEXT && pattern.matcher(text).find();
      const found = [slug(facts.title).slice(0, 7), ...PATTERN_EXAMPLES].map(fit).find(isMatch);
      if (found !== undefined) return found;
    } catch {
      // This engine does not know the pattern, so whatever else the node says decides.
    }
  }
  if (typeof node.format === 'string' && Object.hasOwn(BY_FORMAT, node.format)) return present(BY_FORMAT[node.format]);
  return fit(textFor(name, nth, facts));
}
