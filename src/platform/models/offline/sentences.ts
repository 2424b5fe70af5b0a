/** Hands out sentences so that none stands twice in one result. */
import { fillSentence } from './document.ts';
import { stockOf } from './field-names.ts';
import type { Subject } from './subject.ts';
import { clip } from './words.ts';

/** Sentences and labels for long lists: each beginning goes with each ending. */
const BEGINNINGS =
  'A second example|A short story|A drawing|A table|One more voice|A look back|A short list|A visit|A letter|A map|A small test|A quiet hour'.split(
    '|',
  );
const ENDINGS =
  'would show what it costs|would make this part shorter|would help those who are new|would answer the first doubt|would show who is concerned|would say what to do next|would leave room for questions|would show what can go wrong|would make the difference clear|would close this part|would bring it to life|would save a page of text'.split(
    '|',
  );
const KINDS = 'Small|Quiet|Early|Open|Clear|Second|Simple|Near|Short|Bright|Calm|New'.split('|');
const THINGS = 'step|question|example|view|idea|note|plan|detail|start|choice|answer|change'.split('|');

/** A field with less room gets labels, with still less single words. */
const SENTENCE_ROOM = 70;
const LABEL_ROOM = 24;
const MOST_TERMS = 3;
const MOST_TRIES = 400;

export interface Drawn {
  text: string;
  /** A whole sentence; a mark may stand before it. */
  isSentence: boolean;
}

export function createSentences(subject: Subject) {
  const used = new Set<string>();
  const nextAt = new Map<string, number>();

  /** A sentence with a term stands for one sentence for each of the first terms; without terms it is left out. */
  const expanded = (key: string): Drawn[] =>
    stockOf(key).flatMap((sentence) => {
      const isSentence = /[.?!”]$/.test(sentence) && !sentence.startsWith('{');
      if (!sentence.includes('{term}')) return [{ text: fillSentence(sentence, subject), isSentence }];
      return subject.terms
        .slice(0, sentence === '{term}' ? MOST_TERMS : 1)
        .map((term) => ({ text: fillSentence(sentence, subject, term), isSentence }));
    });
  const expansions = new Map<string, Drawn[]>();

  function claim(candidate: Drawn, max: number): Drawn | undefined {
    const text = clip(candidate.text, max);
    // Several fields may be the title: a page has one, and so has its entry in a list.
    if (text === '' || (used.has(text) && candidate.text !== subject.title)) return undefined;
    used.add(text);
    return { ...candidate, text };
  }

  function fromStock(key: string, max: number): Drawn | undefined {
    let all = expansions.get(key);
    if (!all) expansions.set(key, (all = expanded(key)));
    for (let at = nextAt.get(key) ?? 0; at < all.length; at += 1) {
      const candidate = all[at];
      // The title may be shortened; a sentence that does not fit gives way to one that does.
      const isTitle = candidate?.text === subject.title;
      if (!candidate || (!isTitle && clip(candidate.text, max) !== candidate.text)) continue;
      const claimed = claim(candidate, max);
      if (at === (nextAt.get(key) ?? 0)) nextAt.set(key, at + 1);
      if (claimed) return claimed;
    }
    return undefined;
  }

  /** Each number gives another pair, until all pairs were given. */
  function pairAt(n: number, max: number): Drawn {
    const [left, right] = max < SENTENCE_ROOM ? [KINDS, THINGS] : [BEGINNINGS, ENDINGS];
    const round = Math.floor(n / (left.length * right.length));
    const a = left[n % left.length] ?? '';
    const b = right[(n + Math.floor(n / left.length)) % right.length] ?? '';
    const pair = max < LABEL_ROOM ? `${a.toLowerCase()}-${b}` : `${a} ${b}`;
    const text = `${pair}${round > 0 ? ` ${round + 1}` : ''}`;
    return max < SENTENCE_ROOM ? { text, isSentence: false } : { text: `${text}.`, isSentence: true };
  }

  /** @param key of the stock; when that is used up or has nothing that fits, general sentences follow */
  function draw(key: string | undefined, max: number): Drawn {
    const general = max < LABEL_ROOM ? 'word' : max < SENTENCE_ROOM ? 'label' : 'sentence';
    for (const each of [key, general]) {
      const found = each === undefined ? undefined : fromStock(each, max);
      if (found) return found;
    }
    const from = nextAt.get('pairs') ?? 0;
    for (let n = from; n < from + MOST_TRIES; n += 1) {
      nextAt.set('pairs', n + 1);
      const found = claim(pairAt(n, max), max);
      if (found) return found;
    }
    return { text: clip(pairAt(from, max).text, max), isSentence: false };
  }

  return {
    draw,
    /** Tells that a text stands in the result already. */
    note: (text: string) => void used.add(text),
    isUsed: (text: string) => used.has(text),
  };
}
