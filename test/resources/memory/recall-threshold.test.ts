/** How near a memory has to be, measured with the model that ships. */
import { beforeAll, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { itemAt } from '../../../src/platform/core/present.ts';
import { createEmbedder } from '../../../src/platform/models/embed.ts';
import { TEST_SECRETS } from '../../support/service/service.ts';
import { LABELLED, UNRELATED } from './labelled.ts';

const model = createEmbedder(loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused' }), {});
const THRESHOLD = model.near;

interface Pair {
  prompt: string;
  isMeant: boolean;
  cosine: number;
}

let pairs: Pair[];
const prompts = [...LABELLED.flatMap((each) => each.prompts), ...UNRELATED];

beforeAll(async () => {
  const memories = await model.embed(LABELLED.map(({ memory }) => memory));
  const vectors = await model.embed(prompts);
  pairs = prompts.flatMap((prompt, p) =>
    LABELLED.map((each, m) => ({
      prompt,
      isMeant: each.prompts.includes(prompt),
      cosine: itemAt(vectors, p).reduce((sum, value, i) => sum + value * itemAt(itemAt(memories, m), i), 0),
    })),
  );
});

const at = (threshold: number) => ({
  missed: pairs.filter(({ isMeant, cosine }) => isMeant && cosine < threshold).map(({ prompt }) => prompt),
  superfluous: pairs.filter(({ isMeant, cosine }) => !isMeant && cosine >= threshold).length,
});

// Guards: what is missed is missed without a word, what is superfluous costs a line that is marked as data: so hardly
// anything is missed, and a prompt is told less than one memory too many.
test('hardly anything that is meant is missed, and little else is told', () => {
  const { missed, superfluous } = at(THRESHOLD);
  expect(missed).toEqual(['Who should I ask about design?']);
  expect(superfluous / prompts.length).toBeLessThan(0.75);
});

// Guards: the threshold is where it is for a reason; with another one on either side this test would fail.
test('a threshold that is a little lower or higher is worse', () => {
  expect(at(THRESHOLD + 0.02).missed.length).toBeGreaterThan(1);
  expect(at(THRESHOLD - 0.02).superfluous / prompts.length).toBeGreaterThan(0.75);
});

// Guards: the example of the guide: what `aos memory search` shows for these words is recalled by them.
test('the example of the guide is recalled', () => {
  expect(at(THRESHOLD).missed).not.toContain('when do we release');
});
