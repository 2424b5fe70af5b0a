/**
 * Decides what each field of a JSON reply gets, by its name and what stands around it: a drawing, a document, a value
 * for a machine, something of an earlier step, or a sentence of the stock.
 */
import { isRecord } from '../../core/record.ts';
import { codeFor, filenameFor, pathsFor } from './code-files.ts';
import { composeDocument, documentKind, fillSentence } from './document.ts';
import { drawSvg, type DrawingWish } from './drawing.ts';
import { singular, stockKey, wordsOfName } from './field-names.ts';
import { VERDICT_FIELD, type Field, type FieldFiller } from './fill-schema.ts';
import type { Material } from './material.ts';
import { noteOnMarkdown, PLACEHOLDER_MARK } from './notice.ts';
import { listLength } from './list-lengths.ts';
import { chooseNumber, chooseValue, decideBoolean, machineText } from './plain-values.ts';
import { isText, listFrom, numberOr, type SchemaNode, type SchemaReader } from './schema-node.ts';
import { createSentences } from './sentences.ts';
import { createPresets, LONGEST_CARRIED } from './presets.ts';
import { PASSAGE } from './stock/exercises.ts';
import { findField, findItems, findWhole, labelOf, markWhole } from './upstream.ts';
import { charactersOf, clip, inOneLine, isSentence } from './words.ts';

/** A field with less room than this is too tight for the mark. */
const MARK_ROOM = 120;
const DOCUMENT_ROOM = 400;
const MOST_CHARACTERS = 10_000;
/** All texts of one reply together; past it they are as short as the schema allows. */
const MOST_TOGETHER = 200_000;
const MOST_TITLE = 80;
/** The limit of sentences that are added to a text that must be long. */
const MOST_ROUNDS = 200;

const DOCUMENT_FIELD = /^(?:content|body|markdown|article|readme|document|report|draft|essay|manuscript)$/i;
/** Of an object with a single field, these hold the whole reply. */
const SOLE_DOCUMENT_FIELD = /^(?:text|answer|output|result|response|reply|message|summary)$/i;
const MARKDOWN = /\bmarkdown\b/i;
const NO_MARKDOWN = /\b(?:no|not|without) markdown\b/i;
const DRAWING_FIELD = /^(?:svg|drawing)$/i;
const DRAWING = /\bsvg\b|^(?:an? |the )?drawing\b/i;
const STICKERS = /sticker|icon|logo|badge/i;
const CODE_FIELD = /^(?:content|code|source|body|text)$/i;
const PATH_FIELD = /^(?:path|filename|file|file_name|file_path)$/i;
const VERDICT_TEXT = /feedback|comment|finding|objection|issue|problem|error|fault|change|reason/i;
/** Only in an object with a decision does one of these explain the decision. */
const AMBIGUOUS = /reason|change|problem|error|fault|comment|issue|objection/i;
const PASSAGE_TEXT = /\bparagraphs?\b|\bpassage\b/i;

/** These are tried against a `pattern`. */
const PATTERN_EXAMPLES =
  'offline a A ab AB ABC Abc 0 1 00 0000 00000 A1 v1 v1.0 1.0 1.0.0 #336699 12:00 12:00:00 2026-01-01 id-USD en en-GB a@b.co a/b +10000000000'.split(
    ' ',
  );

/** Fields at the top of a reply that mean the same thing in an earlier one. */
const CARRIED = new Set('title reader angle audience customer hero person visitor voice style tone'.split(' '));

const NOT_READ = 'Placeholder approval: no model was called, so nobody has read this yet.';
const NOT_TESTED = 'Placeholder: no model was called, so nothing was checked.';

/** @param isMarking puts the mark before the first sentence that has room for it */
export function createFieldFiller(material: Material, reader: SchemaReader, isMarking: boolean) {
  const { subject, step, role, rejection } = material;
  const upstream = step?.upstream ?? [];
  const sentences = createSentences(subject);
  let left = MOST_TOGETHER;
  let hasNote = false;
  let hasDocument = false;

  /** Puts the mark before a sentence, once in a reply. */
  function marked(text: string, max: number): string {
    if (!isMarking || hasNote || max < MARK_ROOM) return text;
    hasNote = true;
    return clip(`${PLACEHOLDER_MARK} ${text}`, max);
  }

  function drawingText({ name, parent, nth, siblings }: Field): string {
    const around = `${parent} ${name}`;
    const isInList = parent !== '';
    const kind: DrawingWish['kind'] = STICKERS.test(around) ? 'sticker' : isInList ? 'page' : 'cover';
    const label = labelOf(siblings.name ?? siblings.title);
    return drawSvg({ title: label ?? subject.title, kind, nth, isNumbered: isInList && label === undefined });
  }

  function altText({ parent, nth }: Field): string {
    const item = findItems(upstream, parent)?.[nth];
    const seen = isRecord(item) ? [item.picture, item.motif, item.name, item.title].find(isText) : undefined;
    if (seen) return `Placeholder drawing: ${inOneLine(seen)}`;
    return parent === ''
      ? `Placeholder drawing: a plate with the title ${subject.topic} in front of simple shapes.`
      : `Placeholder drawing ${nth + 1}: a plate with the title in front of simple shapes.`;
  }

  const isDocument = ({ name, parent, node, isSole }: Field, max: number): boolean => {
    if (max < DOCUMENT_ROOM) return false;
    const description = typeof node.description === 'string' ? node.description.slice(0, 200) : '';
    if (MARKDOWN.test(description) && !NO_MARKDOWN.test(description)) return true;
    if (DOCUMENT_FIELD.test(name) || (isSole && SOLE_DOCUMENT_FIELD.test(name))) return true;
    return parent === '' && name === 'text' && !PASSAGE_TEXT.test(description);
  };

  /** The first document is a whole one; further ones of the same reply are two paragraphs each. */
  function documentText({ name, siblings }: Field): string {
    if (hasDocument) return [sentences.draw('sentence', 300).text, sentences.draw('sentence', 300).text].join('\n\n');
    hasDocument = true;
    hasNote = true;
    const hasTitle = !['title', 'name', 'headline', 'subject'].some((key) => Object.hasOwn(siblings, key));
    return noteOnMarkdown(composeDocument(material, { kind: documentKind(material, name), hasTitle }));
  }

  function verdictText({ name, nth }: Field): string {
    if (rejection !== undefined) return nth === 0 ? rejection : 'See the first point.';
    hasNote = true;
    if (nth > 0) return sentences.draw('note', 300).text;
    return /finding/i.test(name) ? NOT_TESTED : NOT_READ;
  }

  const isJudging = role === 'reviewer' || role === 'tester' || rejection !== undefined;
  const isVerdictText = ({ name, isVerdict }: Field): boolean =>
    VERDICT_TEXT.test(name) && (isVerdict || (isJudging && !AMBIGUOUS.test(name)));

  function pathText({ node, nth, name }: Field): string {
    const isCode = /path|^file$/i.test(name) || typeof node.pattern === 'string';
    const paths = isCode ? pathsFor(step?.stepTitle ?? '', nth) : [filenameFor(subject.slug, nth)];
    const { pattern } = node;
    const fitting = paths.find((path) => !isText(pattern) || reader.matches(pattern, path) === true);
    return fitting ?? paths[0] ?? 'file';
  }

  /** What a text field gets before it is fitted to its length. */
  function wanted(field: Field, max: number): string {
    const { name, parent, node, siblings } = field;
    const description = typeof node.description === 'string' ? node.description.slice(0, 200) : '';
    if (DRAWING_FIELD.test(name) || DRAWING.test(description)) return drawingText(field);
    const path = Object.keys(siblings).find((key) => PATH_FIELD.test(key));
    const file =
      path !== undefined && CODE_FIELD.test(name) ? String(siblings[path]) : name === 'html' ? 'index.html' : '';
    if (file !== '') {
      hasNote = true;
      return codeFor(file, subject);
    }
    if (isVerdictText(field)) return verdictText(field);
    if (isDocument(field, max)) return documentText(field);
    if (PATH_FIELD.test(name) && !Object.hasOwn(siblings, 'method')) return pathText(field);
    if (singular(wordsOfName(name).at(-1) ?? '') === 'alt') return altText(field);
    if (name === 'text' && PASSAGE_TEXT.test(`${parent} ${description}`) && max >= DOCUMENT_ROOM)
      return marked(PASSAGE.map((text) => fillSentence(text, subject)).join('\n\n'), max);
    const key = stockKey(field);
    const forMachine = machineText(field, subject.slug, max, key !== undefined);
    if (forMachine !== undefined) return forMachine;
    if (parent === '' && CARRIED.has(name)) {
      const carried = findField(upstream, name);
      if (carried !== undefined && carried.length <= Math.min(max, LONGEST_CARRIED))
        return isSentence(carried) ? marked(carried, max) : carried;
    }
    const drawn = sentences.draw(key, key === 'title' || key === 'name' ? Math.min(max, MOST_TITLE) : max);
    return drawn.isSentence ? marked(drawn.text, max) : drawn.text;
  }

  /** Lengthens a text that is too short with general sentences, and shortens one that is too long. */
  function fitted(text: string, min: number, max: number): string {
    let fitting = text || '.';
    for (let round = 0; left > 0 && round < MOST_ROUNDS && charactersOf(fitting, min).length < min; round += 1)
      fitting = `${fitting} ${sentences.draw('sentence', MOST_CHARACTERS).text}`;
    const short = clip(fitting, max);
    if (charactersOf(short, min).length >= min) return short;
    // Either the text would be too short if it ended between two words, or there is nothing more to say.
    return charactersOf(fitting.padEnd(min + fitting.length, ' ...'), min).join('');
  }

  function text(field: Field): string {
    const { node } = field;
    const max = Math.min(numberOr(node.maxLength, Infinity), MOST_CHARACTERS);
    const min = Math.min(numberOr(node.minLength, 0), max);
    if (left <= 0) return fitted('', min, max);
    const made = isText(node.pattern)
      ? matchingText(field, node.pattern, min, max)
      : fitted(wanted(field, max), min, max);
    left -= made.length;
    return made;
  }

  /** @returns a text that matches the pattern, if an example or the subject does */
  function matchingText(field: Field, pattern: string, min: number, max: number): string {
    const examples = listFrom(field.node.examples).filter(isText);
    const isPath = PATH_FIELD.test(field.name);
    const own = isPath ? [pathText(field)] : [];
    const given = examples[field.nth % Math.max(1, examples.length)];
    const candidates = [
      ...own,
      ...(given === undefined ? [subject.slug.split('-')[0] ?? '', ...PATTERN_EXAMPLES] : []),
    ];
    const found = candidates
      .map((candidate) => fitted(candidate, min, max))
      .find((candidate) => reader.matches(pattern, candidate) === true);
    return found ?? given ?? fitted(wanted(field, max), min, max);
  }

  function count(field: Field, items: SchemaNode): number {
    const { name, siblings, isVerdict } = field;
    if (isVerdict && VERDICT_TEXT.test(name)) return rejection !== undefined || /finding/i.test(name) ? 1 : 0;
    if (name === 'options' && typeof siblings.kind === 'string' && siblings.kind !== 'multiple_choice') return 0;
    const properties = isRecord(items.properties) ? items.properties : {};
    return listLength(
      name,
      step,
      Object.keys(properties).some((key) => DRAWING_FIELD.test(key)),
    );
  }

  function choice(field: Field, values: readonly unknown[]): unknown {
    const carried = VERDICT_FIELD.test(field.name) ? undefined : findField(upstream, field.name);
    return carried !== undefined && values.includes(carried) ? carried : chooseValue(field, values, rejection);
  }

  function whole(fits: (value: unknown) => boolean): unknown {
    if (role === 'reviewer' || role === 'tester' || !step) return undefined;
    const found = findWhole(upstream, fits, role === 'editor' ? ['step', 'phase'] : ['step']);
    if (found !== undefined) hasNote = true;
    return found === undefined ? undefined : markWhole(found, fits);
  }

  const filler: FieldFiller = {
    text,
    number: (field, isInteger) => chooseNumber(field, isInteger, rejection),
    boolean: (field) => decideBoolean(field, rejection),
    choice,
    count,
    presets: createPresets(material, {
      marked,
      isUsed: sentences.isUsed,
      drawAnswer: () => sentences.draw('answer', 300).text,
    }),
    whole,
  };
  return { filler, hasNote: () => hasNote };
}
