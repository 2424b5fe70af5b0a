/** Makes values of one object that belong together: an exercise with its options, an answer with its exercise. */
import { isRecord } from '../../core/record.ts';
import { fillSentence } from './document.ts';
import type { FieldFiller } from './fill-schema.ts';
import type { Material } from './material.ts';
import { isText, listFrom, numberOr, type SchemaNode } from './schema-node.ts';
import { EXERCISES } from './stock/exercises.ts';
import { findItems, labelOf } from './upstream.ts';
import { clip, inOneLine, isSentence } from './words.ts';

/** A longer text of an earlier step is not repeated. */
export const LONGEST_CARRIED = 1_000;
/** These say what an item is called; in a list that continues another one they take over the name of its item. */
const LABELS = new Set('title name heading fact question'.split(' '));

interface Helpers {
  /** Puts the mark before a sentence, once in a reply. */
  marked(text: string, max: number): string;
  isUsed(text: string): boolean;
  drawAnswer(): string;
}

type Values = Record<string, unknown>;

const lengthAllowed = (node: unknown): number => (isRecord(node) ? numberOr(node.maxLength, Infinity) : Infinity);

export function createPresets(
  { subject, step }: Material,
  { marked, isUsed, drawAnswer }: Helpers,
): FieldFiller['presets'] {
  const upstream = step?.upstream ?? [];

  function exercise(nth: number, properties: SchemaNode): Values {
    const kinds = isRecord(properties.kind) ? listFrom(properties.kind.enum) : [];
    const chosen = EXERCISES.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))[nth];
    if (!chosen) return {};
    const question = marked(fillSentence(chosen.question, subject), lengthAllowed(properties.question));
    return { kind: chosen.kind, question, options: [...chosen.options] };
  }

  function answerTo(item: unknown, properties: SchemaNode): Values {
    const question = labelOf(item);
    const found = EXERCISES.find((each) => inOneLine(fillSentence(each.question, subject)) === question);
    if (!found) return { answer: drawAnswer() };
    return { answer: found.answer, explanation: marked(found.explanation, lengthAllowed(properties.explanation)) };
  }

  function continued(item: unknown, properties: SchemaNode): Values {
    const values: Values = {};
    for (const key of Object.keys(properties)) {
      const same = isRecord(item) && Object.hasOwn(item, key) ? item[key] : undefined;
      const value = isText(same) ? inOneLine(same) : LABELS.has(key) ? labelOf(item) : undefined;
      if (value === undefined || value.length > LONGEST_CARRIED || value.startsWith('<svg') || isUsed(value)) continue;
      const max = lengthAllowed(properties[key]);
      if (LABELS.has(key)) values[key] = max < Infinity ? clip(value, max) : value;
      else values[key] = isSentence(value) ? marked(value, max) : value;
    }
    return values;
  }

  return (parent, nth, properties) => {
    if ('question' in properties && 'options' in properties) return exercise(nth, properties);
    const item = parent === '' ? undefined : findItems(upstream, parent)?.[nth];
    if (item === undefined) return {};
    return 'answer' in properties && !('question' in properties)
      ? answerTo(item, properties)
      : continued(item, properties);
  };
}
