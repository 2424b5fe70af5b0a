/**
 * R13: an oracle of projects that shares nothing with the service (`test/oracle`): the stories of what went wrong once, and
 * random projects with random commands at the moments when steps end, while everything is killed and stands still.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOracle, phase, agent } from '../oracle/kit.ts';
import { makeTrouble, tellStory, TROUBLES } from '../oracle/drive.ts';
import { KILL_SCENARIOS, SCENARIOS } from '../oracle/scenarios.ts';
import { startWorld } from '../oracle/world.ts';
import { keepLogs, keptAt } from './keep-logs.ts';
import { startProjectsRig } from './projects-rig.ts';
import { seeded } from './random.ts';
import { prove } from './report.ts';

const setsAsLists = (_: string, value: unknown): unknown => (value instanceof Set ? [...value] : value);

/** Waves of projects at once. */
const WAVES = 12;
const PROJECTS = 8;

await prove(
  {
    name: 'projects',
    claim: 'R13',
    title: 'Projects, held against a model of the specification that is none of the service’s',
  },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const world = await startWorld();
    const rig = await startProjectsRig(world);
    const violations: string[] = [];
    const name = `projects-${seed}`;
    const oracle = createOracle(rig, world, async (id, found, all) => {
      await mkdir(keptAt(name), { recursive: true });
      await writeFile(join(keptAt(name), `${id}.json`), JSON.stringify({ found, ...all }, setsAsLists));
    });
    try {
      const stories = small ? SCENARIOS.slice(0, 1) : [...SCENARIOS, ...KILL_SCENARIOS];
      for (const story of stories) {
        const found = await story.play(oracle);
        say(`${story.name}: ${found.length} violation(s)`);
        for (const what of found) say(what);
        violations.push(...found.map((what) => `${story.name}: ${what}`));
      }
      const helper = await oracle.start([phase('a', [], [agent('s')])]);
      await helper.untilProject('completed');

      const told = { projects: 0, commands: 0, completed: 0, abandoned: 0 };
      const troubles = new Map<string, number>();
      const waves = small ? 1 : WAVES;
      for (let wave = 1; wave <= waves; wave++) {
        const over = new AbortController();
        const trouble = makeTrouble(rig, random, TROUBLES, over.signal);
        const stories = Array.from({ length: PROJECTS }, () => tellStory(oracle, random, helper.id, told));
        const found = (await Promise.all(stories)).flat();
        over.abort();
        for (const [name, count] of await trouble) troubles.set(name, (troubles.get(name) ?? 0) + count);
        say(`wave ${wave} of ${waves}: ${found.length} violation(s)`);
        for (const what of found) say(what);
        violations.push(...found);
      }
      if (violations.length > 0) {
        say(`the logs, and the record of each such project, are in ${await keepLogs(rig.folder, name)}`);
      }
      return {
        did: {
          stories: stories.length,
          'random projects': told.projects,
          commands: told.commands,
          completed: told.completed,
          abandoned: told.abandoned,
          'calls of the model': world.calls.length,
          posts: world.posts.length,
          ...Object.fromEntries([...troubles].sort().map(([name, count]) => [`- ${name}`, count])),
        },
        violations: violations.map((what) => ({ what, repeat })),
      };
    } finally {
      await oracle.client.close();
      await rig.close();
      await world.close();
    }
  },
);
