/**
 * Notes as workspaces keep them, with real vectors. A few thousand different sentences are embedded with the packaged
 * model; a note is two to four of them about one subject, and its vector the mean of theirs, which is how that model
 * embeds a text of several pieces. So a hundred thousand notes take seconds, and lie as near to each other as real ones.
 */
import { first, itemAt } from '../../src/platform/core/present.ts';
import { createPackagedModel } from '../../src/platform/models/embed-packaged.ts';
import { normalized } from '../../src/platform/models/long-texts.ts';

const WHO = [
  'Alice',
  'The design team',
  'Our biggest client',
  'Support',
  'The founder',
  'Marketing',
  'A reviewer',
  'Bob',
];
const WHAT = [
  ...['the pricing page', 'the refund policy', 'the weekly newsletter', 'the brand voice', 'the onboarding flow'],
  ...['the kite catalogue', 'the billing system', 'the search index', 'the mobile app', 'the annual report'],
  ...['the hiring plan', 'the database backups', 'the holiday campaign', 'the podcast', 'the warehouse in Rotterdam'],
  ...['the children’s book', 'the sticker designs', 'the security audit', 'the API documentation', 'the sales deck'],
];
const WHEN = [
  'on Tuesdays',
  'before noon',
  'at the end of the quarter',
  'since March',
  'after every release',
  'in winter',
];
const SAYS: readonly ((who: string, what: string, when: string) => string)[] = [
  (who, what, when) => `${who} wants ${what} to be checked ${when}.`,
  (who, what, when) => `${who} changes ${what} ${when}, so ask first.`,
  (who, what) => `Never mention ${what} to people whom ${who.toLowerCase()} has not met.`,
  (who, what, when) => `Problems with ${what} are reported to ${who.toLowerCase()} ${when}.`,
  (_, what, when) => `Readers ask about ${what} most often ${when}.`,
  (who, what) => `${who} decided that ${what} stays as it is until somebody complains.`,
  (_, what, when) => `The figures of ${what} are out of date ${when}; look them up anew.`,
  (who, what) => `For ${what}, ${who.toLowerCase()} likes short sentences and no exclamation marks.`,
  (who, what, when) => `${who} pays for ${what} ${when}, in euros.`,
];
const QUESTIONS: readonly ((what: string) => string)[] = [
  (what) => `Who is responsible for ${what}?`,
  (what) => `Write a short text about ${what}.`,
  (what) => `When was ${what} changed, and why?`,
  (what) => `Is there anything to keep in mind about ${what}?`,
];

/** The same numbers each time. */
export function createRandom(seed = 1): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

export interface Corpus {
  note(): { content: string; vector: number[] };
  questions: { text: string; vector: number[] }[];
}

export async function makeCorpus(random: () => number): Promise<Corpus> {
  const model = createPackagedModel();
  const embed = (values: string[]) => model.embed(values);
  const bySubject = WHAT.map((what) =>
    SAYS.flatMap((says) => WHO.flatMap((who) => WHEN.map((when) => says(who, what, when))))
      .map((text) => ({ text, order: random() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, 100)
      .map(({ text }) => text),
  );
  const vectors: number[][][] = [];
  // The model would refuse what waits behind too much.
  for (const texts of bySubject) vectors.push(await embed(texts));
  const subjects = bySubject.map((texts, s) => texts.map((text, i) => ({ text, vector: vectors[s]![i]! })));
  const texts = WHAT.flatMap((what) => QUESTIONS.map((asks) => asks(what)));
  const questions = (await embed(texts)).map((vector, i) => ({ text: itemAt(texts, i), vector }));

  const pick = <T>(from: readonly T[]): T => itemAt(from, Math.floor(random() * from.length));
  return {
    note() {
      const subject = pick(subjects);
      const said = Array.from({ length: 2 + Math.floor(random() * 3) }, () => ({
        ...pick(subject),
        weight: random() + 0.2,
      }));
      const vector = first(said).vector.map((_, at) =>
        said.reduce((sum, one) => sum + itemAt(one.vector, at) * one.weight, 0),
      );
      return { content: said.map(({ text }) => text).join(' '), vector: normalized(vector) };
    },
    questions,
  };
}
