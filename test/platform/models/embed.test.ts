import { afterAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { first, itemAt } from '../../../src/platform/core/present.ts';
import { createPackagedModel, PACKAGED } from '../../../src/platform/models/embed-packaged.ts';

const run = promisify(execFile);
const embedder = createPackagedModel();
afterAll(() => embedder.close());
const embed = (...texts: string[]) => embedder.embed(texts);
const cosine = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, index) => sum + value * itemAt(b, index), 0);

// Guards: vectors carry meaning: sentences of the same sense are closer to each other than to others.
test('puts similar sentences close together', async () => {
  const [cat, kitten, invoice] = (await embed(
    'The cat sleeps on the sofa.',
    'A kitten is napping on the couch.',
    'The invoice is due at the end of the month.',
  )) as [number[], number[], number[]];
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(cat, invoice) + 0.2);
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(kitten, invoice) + 0.2);
});

// Guards against: texts that waited for ever on a busy machine, on which the model's WebAssembly is compiled after its
// weights were read.
test('waits for what the model computes with', async () => {
  const late = `const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (...given) => new Promise((resolve) => setTimeout(resolve, 2_000)).then(() => instantiate(...given));`;
  const thread = new URL('../../../src/platform/models/embed-thread.ts', import.meta.url).href;
  const program = `import('${thread}').then(({ default: embed }) => embed(['alpha'])).then(([vector]) => {
    process.stdout.write(String(vector.length));
  })`;
  const { stdout } = await run(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(late)}`,
    '-e',
    program,
  ]);
  expect(stdout).toBe(String(PACKAGED.dimensions));
});

// Guards: each text has one vector of unit length and fixed size, including a blank, a long and a strange text.
test('gives unit vectors in order', async () => {
  const texts = ['alpha', '', '  \n', '\u{1f642} \ud800 \u65e5\u672c\u8a9e', 'long text '.repeat(2_000), 'alpha'];
  const vectors = await embed(...texts);
  expect(vectors).toHaveLength(texts.length);
  for (const vector of vectors) {
    expect(vector).toHaveLength(PACKAGED.dimensions);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  }
  expect(cosine(first(vectors), itemAt(vectors, 5))).toBeCloseTo(1, 5);
  await expect(embed()).resolves.toEqual([]);
});

// Guards: a text has the same vector alone and in a batch, because stored vectors are compared with those of queries.
test('does not depend on the company', async () => {
  const [alone] = (await embed('The weather in Jakarta is hot.')) as [number[]];
  const [, among] = (await embed('Something else entirely.', 'The weather in Jakarta is hot.', 'x')) as [
    number[],
    number[],
  ];
  expect(cosine(alone, among)).toBeCloseTo(1, 4);
});

// Guards: the end of a long text counts, although the model reads only 128 tokens at once.
test('embeds a long text as a whole', async () => {
  const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
  const [question, without, withFact] = (await embed(
    'How long do customers have to return a product?',
    filler,
    `${filler}\n${'The refund window is 30 days from delivery. '.repeat(4)}`,
  )) as [number[], number[], number[]];
  expect(cosine(question, withFact)).toBeGreaterThan(cosine(question, without) + 0.1);
});

// Guards: long texts do not keep requests and workflow tasks waiting: the event loop turns meanwhile, more often than
// once for each pass of the model.
test('computes beside the loop of the service', async () => {
  let isDone = false;
  const embedding = embed('long text '.repeat(2_000)).then(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns++) await setTimeout(1);
  await embedding;
  expect(turns).toBeGreaterThan(150);
});

// Guards against: many long texts at once, each of which, and everybody else's, then waited for a minute and more.
test('refuses what it would not come to in time', async () => {
  const enough = new AbortController();
  const long = 'long text '.repeat(2_000);
  const ends = Array.from({ length: 12 }, async () => {
    try {
      return await embedder.embed([long], { signal: enough.signal });
    } catch (error) {
      return error;
    }
  });
  // A short one waits for a pass of each that was taken.
  expect(await embed('Who is there?')).toHaveLength(1);
  enough.abort();
  const errors = await Promise.all(ends);
  expect(errors.slice(0, 7)).toEqual(Array(7).fill(enough.signal.reason));
  for (const error of errors.slice(7)) expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
  // Those that were given up are no longer in the way.
  expect(await embed(long)).toHaveLength(1);
});

// Guards against: one workspace with many long texts, because of which those of all others were refused.
test('refuses nobody for what another workspace asks', async () => {
  const enough = new AbortController();
  const long = 'long text '.repeat(2_000);
  const floods = Array.from({ length: 12 }, () =>
    embedder.embed([long], { signal: enough.signal, workspace: 'flood' }).catch((error: unknown) => error),
  );
  expect(await embedder.embed([long], { workspace: 'another' })).toHaveLength(1);
  enough.abort();
  const refused = (await Promise.all(floods)).filter((error) => error !== enough.signal.reason);
  expect(refused).toHaveLength(5);
});
