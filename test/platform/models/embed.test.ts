import { expect, test } from '@jest/globals';
import { createEmbedder, EMBEDDING_DIMENSIONS } from '../../../src/platform/models/embed.ts';

const embedder = createEmbedder();
const embed = async (...values: string[]) => (await embedder.doEmbed({ values })).embeddings;
const cosine = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, index) => sum + value * b[index]!, 0);

// Guards: vectors mean something: sentences of one sense are nearer to each other than to others.
test('puts similar sentences close together', async () => {
  const [cat, kitten, invoice] = (await embed(
    'The cat sleeps on the sofa.',
    'A kitten is napping on the couch.',
    'The invoice is due at the end of the month.',
  )) as [number[], number[], number[]];
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(cat, invoice) + 0.2);
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(kitten, invoice) + 0.2);
});

// Guards: each text has one vector of unit length and fixed size, also a blank, a long and a strange one.
test('gives unit vectors in order', async () => {
  const texts = ['alpha', '', '  \n', '\u{1f642} \ud800 \u65e5\u672c\u8a9e', 'long text '.repeat(2_000), 'alpha'];
  const vectors = await embed(...texts);
  expect(vectors).toHaveLength(texts.length);
  for (const vector of vectors) {
    expect(vector).toHaveLength(EMBEDDING_DIMENSIONS);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  }
  expect(cosine(vectors[0]!, vectors[5]!)).toBeCloseTo(1, 5);
  await expect(embed()).resolves.toEqual([]);
});

// Guards: a text has the same vector alone and among others; stored vectors are compared with those of queries.
test('does not depend on the company', async () => {
  const [alone] = (await embed('The weather in Jakarta is hot.')) as [number[]];
  const [, among] = (await embed('Something else entirely.', 'The weather in Jakarta is hot.', 'x')) as [
    number[],
    number[],
  ];
  expect(cosine(alone, among)).toBeCloseTo(1, 4);
});
