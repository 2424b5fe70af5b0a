/** Which agent answers a prompt that names none, as the scale of the embedding model says. */
import { expect, test } from '@jest/globals';
import { createClassifier } from '../../activities/classify.ts';
import type { EmbedOptions } from '../../src/platform/models/types.ts';
import { DEFAULT_AGENT } from '../../src/resources/agents/builtin/index.ts';

const PROMPT = 'Which mushroom is this?';
const MYCOLOGIST = { slug: 'mycologist', description: 'Identifies mushrooms.' };

/** A model for which the prompt and the description have that cosine. */
function classifierOf({ near, cosine }: { near: number; cosine: number }) {
  const asked: [string, boolean][] = [];
  const classify = createClassifier({
    embedding: { model: 'm', dimensions: 2, languages: null, scripts: null, near, reads: () => true },
    embed: async (texts: readonly string[], { isQuestion = false }: EmbedOptions = {}) => {
      asked.push(...texts.map((text): [string, boolean] => [text, isQuestion]));
      return texts.map((text) => (text === PROMPT ? [1, 0] : [cosine, Math.sqrt(1 - cosine ** 2)]));
    },
  });
  return { asked, pick: async () => (await classify('acme', PROMPT, [MYCOLOGIST])).agent };
}

// Guards against: a threshold for all models. Vectors of E5 have a cosine of 0.7 to 0.8 where they have nothing in common,
// so each prompt went to some agent; of another model even the right one may have less than that.
test.each([
  { near: 0.81, cosine: 0.79, agent: DEFAULT_AGENT },
  { near: 0.81, cosine: 0.83, agent: 'mycologist' },
  { near: 0.32, cosine: 0.33, agent: 'mycologist' },
  { near: 0.32, cosine: 0.3, agent: DEFAULT_AGENT },
])('near is $near, the cosine $cosine: $agent', async ({ agent, ...model }) => {
  expect(await classifierOf(model).pick()).toBe(agent);
});

// Guards: what is near is a scale of questions and passages, which some models are told apart.
test('the prompt is the question', async () => {
  const { asked, pick } = classifierOf({ near: 0.5, cosine: 0.9 });
  await pick();
  expect(asked).toEqual([
    [PROMPT, true],
    [MYCOLOGIST.description, false],
  ]);
});
