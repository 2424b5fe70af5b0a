/**
 * The oracle of projects (`test/oracle`) in small: stories of what went wrong once. In full, with kills of everything and
 * random projects: `npm run proof:projects`.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createOracle, type Oracle } from '../oracle/kit.ts';
import { SCENARIOS } from '../oracle/scenarios.ts';
import { startWorld, type World } from '../oracle/world.ts';
import { startProjectsRig } from '../proof/projects-rig.ts';
import { drawn } from '../support/runner/sizes.ts';

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
