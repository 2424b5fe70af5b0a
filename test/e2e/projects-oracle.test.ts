/**
 * The oracle of projects (`test/oracle`) in small: some of the stories of what went wrong once, and one wave of random
 * projects. In full: `npm run proof:projects`.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tellStory, makeTrouble, STANDSTILLS } from '../oracle/drive.ts';
import { agent, createOracle, phase, type Oracle } from '../oracle/kit.ts';
import { KILL_SCENARIOS, SCENARIOS } from '../oracle/scenarios.ts';
import { startWorld, type World } from '../oracle/world.ts';
import { startProjectsRig } from '../proof/projects-rig.ts';
import { seeded } from '../proof/random.ts';
import { drawn } from '../support/runner/sizes.ts';

const PROJECTS = 3;

let world: World;
let rig: Awaited<ReturnType<typeof startProjectsRig>>;
let oracle: Oracle;
beforeAll(async () => {
  world = await startWorld();
  rig = await startProjectsRig(world);
  oracle = createOracle(rig, world);
});
afterAll(async () => {
  await oracle?.client.close();
  await rig?.close();
  await world?.close();
});

// Guards: freshness, approvals, liveness, escape and actors, where each of them did not hold once.
test.each(drawn('stories of the oracle', SCENARIOS, 4))('$name', async ({ play }) => {
  expect(await play(oracle)).toEqual([]);
});

// Guards: the same, whatever is done to whatever project when a step of it ends.
test('random projects', async () => {
  const seed = Number(process.env.PROOF_SEED ?? process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = seeded(seed);
  const helper = await oracle.start([phase('a', [], [agent('s')])]);
  await helper.untilProject('completed');
  const told = { projects: 0, commands: 0, completed: 0, abandoned: 0 };
  const over = new AbortController();
  const trouble = makeTrouble(rig, random, STANDSTILLS, over.signal);
  const stories = Array.from({ length: PROJECTS }, () => tellStory(oracle, random, helper.id, told));
  const found = (await Promise.all(stories)).flat();
  over.abort();
  await trouble;
  expect({ seed, found }).toEqual({ seed, found: [] });
  expect(told.projects).toBe(PROJECTS);
});

// Guards: what was answered is carried out, and what was abandoned ends, although nothing is left of what was in memory.
test.each(drawn('kills of the oracle', KILL_SCENARIOS, 1))('$name', async ({ play }) => {
  expect(await play(oracle)).toEqual([]);
});
