/**
 * Says what a reply is about: the title, and short noun phrases of the brief. Phrases are taken apart by function words
 * of English; a brief in another language is spoken of by its title alone, which is right in every script.
 */
import { clip, hasWords, inOneLine, slugFrom, withoutMarkup } from './words.ts';

export interface Subject {
  /** One line without markup, at most 80 characters. */
  title: string;
  /** What stands for the title inside a sentence: the title or a phrase of the brief, in quotation marks. */
  topic: string;
  /** Short noun phrases of the brief, at most six; none if it is not in English. */
  terms: string[];
  /** The beginning of the brief on one line, '' if there is none. */
  excerpt: string;
  slug: string;
}

const MAX_TITLE = 80;
const MAX_TOPIC = 60;
/** A longer title makes a sentence hard to read, so a phrase of it is used if there is one. */
const MAX_SHORT_TOPIC = 50;
const MAX_EXCERPT = 240;
/** Terms are looked for in the first characters of a text. */
const MAX_READ = 2_000;
const MAX_TERMS = 6;
const LONGEST_TERM = 40;
const UNTITLED = 'Untitled';

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Behind these words a noun phrase begins. */
const BEFORE_NOUNS = set(
  'the a an of for with about on in from by between without into our your their its his her my this these every each any no why',
);
/** After a phrase at the beginning of a sentence, these show that it was a noun phrase and not an order. */
const AFTER_NOUNS = set('of for on in with and is are at by from');
/** These join two noun phrases into one. */
const JOINING = set('of for on in with about by between');
const ARTICLES = set('a an the');
/** Phrases that say nothing of a brief by themselves. */
const VAGUE =
  /^(?:people|things?|ways?|time|lots?|parts?|kinds?|same .*|page|tool|text|post|article|book|app|audience|readers?|\d.*|(?:one|two|three|four|five|six|ten)\b.*)$/;
const QUESTIONS = set('which what how who whom whose');
/** Words that are no part of a noun phrase. */
const FUNCTION_WORDS = set(
  'to and or but nor so yet not as at than then that which who whom whose what when where how if because while until ' +
    'is are was were be been being am do does did has have had can could will would shall should may might must ' +
    'i you he she it we they me us them one some all both few many more most much other such only very too also just ' +
    'up down out over under again further once here there now never always often still even really quite rather ' +
    'down get gets make makes made use uses let lets please need needs want wants like about at',
);
/** A sentence that begins with one of these is an order. */
const ORDERS = set(
  'write make create build design draw plan explain tell prepare compose generate draft produce describe show give list',
);
/** A text with two of these is in English. */
const ENGLISH = set('the of and for with is are that how why what who should our we their this from people which');

const WORD = /^[\p{Script=Latin}\d][\p{Script=Latin}\d'’.+#-]*$/u;
const SENTENCE_END = /[.!?:;,()"“”«»\n]/;

const isStop = (word: string): boolean => FUNCTION_WORDS.has(word) || BEFORE_NOUNS.has(word);

/** @returns the sentences and clauses of a text, as lists of words */
const clausesOf = (text: string): string[][] =>
  text
    .split(SENTENCE_END)
    .map((clause) => clause.split(/\s+/).filter(Boolean))
    .filter((words) => words.length > 0);

interface Phrase {
  /** Its first word in the clause, and the word after its last. */
  start: number;
  end: number;
  text: string;
}

/** @returns the noun phrases of one clause: one or two words between function words; three often hold a verb */
function phrasesIn(words: readonly string[]): Phrase[] {
  const found: Phrase[] = [];
  const wordAt = (at: number) => (words[at] ?? '').toLowerCase();
  for (let start = 0; start < words.length;) {
    let end = start;
    while (end < words.length && !isStop(wordAt(end))) end += 1;
    const isNoun =
      start === 0
        ? AFTER_NOUNS.has(wordAt(end)) && !ORDERS.has(wordAt(start))
        : BEFORE_NOUNS.has(wordAt(start - 1)) && !wordAt(start).endsWith('ly');
    const phrase = words.slice(start, end);
    if (isNoun && phrase.length > 0 && phrase.length <= 2 && phrase.every((word) => WORD.test(word)))
      found.push({ start, end, text: phrase.join(' ') });
    start = end + 1;
  }
  return found;
}

/** @returns the clauses of a text in English; none of a text in another language */
function englishClauses(text: string): string[][] {
  const clauses = clausesOf(text.slice(0, MAX_READ));
  const words = new Set(clauses.flat().map((word) => word.toLowerCase()));
  return [...words].filter((word) => ENGLISH.has(word)).length < 2 ? [] : clauses;
}

function termsIn(text: string): string[] {
  const terms = new Map<string, string>();
  for (const phrase of englishClauses(text).flatMap(phrasesIn)) {
    const key = phrase.text.toLowerCase();
    if (key.length >= 4 && key.length <= LONGEST_TERM && !VAGUE.test(key) && !terms.has(key))
      terms.set(key, phrase.text);
  }
  return [...terms.values()].slice(0, MAX_TERMS);
}

/** @returns two noun phrases with what joins them, such as `a tool for our choir`; undefined if there are none */
function joinedPhrase(text: string): string | undefined {
  for (const words of englishClauses(text)) {
    // In a question the verb may stand at the end, where it looks like a part of the phrase.
    const phrases = words.some((word) => QUESTIONS.has(word.toLowerCase())) ? [] : phrasesIn(words);
    for (const [at, { start, end }] of phrases.entries()) {
      const next = phrases[at + 1];
      const between = next ? words.slice(end, next.start).map((word) => word.toLowerCase()) : [];
      if (!next || between.length === 0 || between.length > 2 || !JOINING.has(between[0] ?? '')) continue;
      const from = ARTICLES.has((words[start - 1] ?? '').toLowerCase()) ? start - 1 : start;
      const joined = words.slice(from, next.end).join(' ');
      if (joined.length <= MAX_SHORT_TOPIC) return joined;
    }
  }
  return undefined;
}

/** @returns the first line of a text that says something, without markup */
export function firstLineOf(text: string): string {
  for (const line of text.slice(0, MAX_READ).split('\n', 50)) {
    const clean = withoutMarkup(line.slice(0, 600));
    if (hasWords(clean)) return clean;
  }
  return '';
}

/** A project without a title is called after the first characters of its brief, and such a title may end anywhere. */
const wasCut = (title: string, firstLine: string): boolean =>
  title.length >= MAX_TITLE - 2 && firstLine.length > title.length && firstLine.startsWith(title);

/** The end of a sentence that is long enough to speak of. */
const FIRST_SENTENCE = /^.{19,58}?(?=[.!?;] )|^.{5,58}?(?=[。！？।؟])/su;
const FIRST_CLAUSE = /^.{20,58}(?=[,:،、] ?)/su;

/** Shortens a title to what can stand in a sentence: its first sentence, its first clause, its first words. */
function spokenOf(title: string): string {
  const [sentence] = FIRST_SENTENCE.exec(title) ?? [];
  const [clause] = title.length > MAX_TOPIC ? (FIRST_CLAUSE.exec(title) ?? []) : [];
  return clip((sentence ?? clause ?? title).replace(/["“”„«»]/g, "'"), MAX_TOPIC).replace(/[.:;,。、!！]$/u, '');
}

/** @param title '' takes the first line of the brief */
export function describeSubject({ title, brief }: { title: string; brief: string }): Subject {
  const given = firstLineOf(title);
  const firstLine = firstLineOf(brief);
  const whole = given && !wasCut(given, firstLine) ? given : firstLine || given || UNTITLED;
  const shown = clip(whole, MAX_TITLE);
  const short = whole.length > MAX_SHORT_TOPIC ? joinedPhrase(`${whole}.\n${brief.slice(0, MAX_READ)}`) : undefined;
  return {
    title: shown,
    topic: whole === UNTITLED ? 'the subject of the brief' : `“${spokenOf(short ?? whole)}”`,
    terms: termsIn(`${whole}.\n${brief.slice(0, MAX_READ)}`),
    excerpt: clip(inOneLine(brief.slice(0, 4 * MAX_EXCERPT)), MAX_EXCERPT),
    slug: slugFrom(whole) || 'untitled',
  };
}
