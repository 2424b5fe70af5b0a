/**
 * Random projects and random commands: each is given at the moment at which some step of the project ends, which is when
 * its model answers.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { PARTS, type Part, type Rig } from './client.ts';
import {
  agent,
  gate,
  judge,
  OTHER,
  OWNER,
  phase,
  post,
  type Case,
  type Oracle,
  type PhaseSpec,
  type StepSpec,
} from './kit.ts';
import { handMark } from './rules.ts';
import type { Answer, ModelCall } from './world.ts';

/** Numbers in [0, 1), of which a seed repeats the order. */
export type Random = () => number;
const pick = <Item>(random: Random, items: readonly [Item, ...Item[]]): Item =>
  items[Math.floor(random() * items.length)] ?? items[0];
const upTo = (random: Random, most: number): number => Math.floor(random() * (most + 1));
const some = <Item>(random: Random, items: readonly Item[], share: number): Item[] =>
  items.filter(() => random() < share);

const CASCADES = ['strict', 'lazy', 'none'] as const;

function randomStep(random: Random, slug: string, before: string[], awaited: string): StepSpec {
  const on = before.length === 0 ? [] : some(random, before, 0.5);
  const needs = on.length > 0 ? on : before.slice(-1);
  const on_reject = pick(random, ['pause', 'rework'] as const);
  const more = { depends_on: needs };
  const kinds: [() => StepSpec, ...(() => StepSpec)[]] = [
    () => agent(slug, on),
    () => agent(slug, on),
    () => judge(slug, needs),
    () => judge(slug, needs, 'tester'),
    () => gate(slug, { on_reject }, 'human', more),
    () => gate(slug, { on_reject, four_eyes: true }, 'human', more),
    () => gate(slug, { on_reject }, 'webhook', more),
    () => gate(slug, { delay_s: 1 }, 'schedule', more),
    () => gate(slug, { project_id: awaited }, 'pipeline_dep', more),
  ];
  return pick(random, kinds)();
}

/** Two to five phases; the last may post. @param awaited a project that is completed */
function randomPhases(random: Random, awaited: string): PhaseSpec[] {
  const count = 2 + upTo(random, 3);
  const slugs = Array.from({ length: count }, (_, at) => `p${at}`);
  return slugs.map((slug, at) => {
    const own = [agent('s0', [])];
    for (let n = 1; n <= upTo(random, 4); n++) {
      own.push(
        randomStep(
          random,
          `s${n}`,
          own.map(({ step_slug }) => step_slug),
          awaited,
        ),
      );
    }
    const isLast = at === count - 1;
    if (isLast && random() < 0.7) {
      const steps =
        random() < 0.5 ? [gate('ok'), gate('later', { delay_s: 1 }, 'schedule'), post()] : [...own, gate('ok'), post()];
      return phase(slug, slugs.slice(Math.max(0, at - 2), at), steps);
    }
    return phase(slug, some(random, slugs.slice(0, at), 0.6), own, {
      cascade_on_upstream_change: pick(random, CASCADES),
    });
  });
}

export interface Told {
  projects: number;
  commands: number;
  completed: number;
  abandoned: number;
}

/** How often a judge rejects, a model fails, and a command is given at the end of a step. */
const REJECTS = 0.2;
const FAILS = 0.03;
const COMMANDS = 0.4;
const MOST_COMMANDS = 12;
const THINKS_MS = 150;
const LATE_MS = 40;
/** How long commands are given, at most, before everything is made good. */
const STORY_MS = 25_000;

/** One project through one random story. @returns what did not hold */
export async function tellStory(oracle: Oracle, random: Random, awaited: string, told: Told): Promise<string[]> {
  const phases = randomPhases(random, awaited);
  const one = await oracle.start(phases);
  told.projects += 1;
  const slugs = phases.map(({ slug }) => slug) as [string, ...string[]];
  const givenAll = Promise.withResolvers<void>();
  const under = new Set<Promise<unknown>>();
  let commands = 0;
  let isCalm = false;

  const command = commandsOf(one, random, slugs);
  one.think(async (call: ModelCall): Promise<Answer> => {
    if (isCalm) return { kind: 'output' };
    await wait(upTo(random, THINKS_MS));
    const judges = call.prompt.includes('You judge.');
    const answer: Answer =
      judges && random() < REJECTS
        ? { kind: 'reject', reason: 'More of it.' }
        : { kind: random() < FAILS ? 'fail' : 'output' };
    if (random() < COMMANDS && commands < MOST_COMMANDS) {
      commands += 1;
      under.add(
        wait(upTo(random, LATE_MS))
          .then(command)
          .catch(() => {}),
      );
      if (commands === MOST_COMMANDS) givenAll.resolve();
    }
    return answer;
  });

  // Somebody looks, now and then, at what waits.
  const ends = Promise.race([wait(STORY_MS), givenAll.promise]);
  let isOver = false;
  void ends.then(() => (isOver = true));
  while (!isOver) {
    await wait(300);
    await one
      .answerOpen(() => (random() < 0.8 ? 'approved' : 'rejected'), pick(random, [OTHER, OTHER, OWNER]))
      .catch(() => {});
    const { status } = await one.project();
    // Nothing ends any more by which a command could come, and neither is a project left at a pause for good.
    if ((status === 'completed' || status === 'paused') && commands < MOST_COMMANDS) {
      commands += 1;
      await (status === 'paused' && random() < 0.5 ? one.command('resume') : command()).catch(() => {});
    } else if (status === 'abandoned') break;
  }
  isCalm = true;
  await Promise.all(under);
  told.commands += commands;
  const found = [...(await one.finish()), ...(await one.escape())];
  const { status } = await one.project();
  if (status === 'completed') told.completed += 1;
  else told.abandoned += 1;
  return found;
}

function commandsOf(one: Case, random: Random, slugs: readonly [string, ...string[]]): () => Promise<unknown> {
  let byHand = 0;
  const cascade = () => pick(random, [...CASCADES, 'default']);
  const edits = (): object => {
    const phase_slug = pick(random, slugs);
    if (random() < 0.5) return { kind: 'retrigger', phase_slug };
    byHand += 1;
    return { kind: 'edit_artifact', phase_slug, content: handMark(phase_slug, byHand) };
  };
  const kinds: [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
    () => one.retrigger(pick(random, slugs), cascade()),
    () => one.retrigger(pick(random, slugs), cascade()),
    () =>
      one.command(`phases/${pick(random, slugs)}/revert-artifact`, {
        target_version: 1 + upTo(random, 2),
        cascade: cascade(),
      }),
    () => one.edit([edits()], cascade()),
    () =>
      one
        .command('pause')
        .then(() => wait(upTo(random, 300)))
        .then(() => one.command('resume')),
    () => one.command('pause'),
    () => one.command('resume'),
    () => one.answerOpen(() => 'approved', OTHER),
    () => (random() < 0.1 ? one.command('abandon') : one.command('resume')),
  ];
  return () => pick(random, kinds)();
}

/** What is done to the processes, at random moments, until it is told to end. */
export async function makeTrouble(
  rig: Rig,
  random: Random,
  kinds: readonly Trouble[],
  until: AbortSignal,
): Promise<Map<string, number>> {
  const done = new Map<string, number>();
  while (!until.aborted) {
    await wait(2_000 + upTo(random, 6_000), undefined, { signal: until }).catch(() => {});
    const kind = kinds[upTo(random, kinds.length - 1)];
    if (until.aborted || !kind) break;
    await kind.make(rig);
    done.set(kind.name, (done.get(kind.name) ?? 0) + 1);
  }
  return done;
}
export interface Trouble {
  name: string;
  make(rig: Rig): Promise<void>;
}
const STILL_MS = 2_000;
const named = (what: string, make: (rig: Rig, part: Part) => Promise<void>): Trouble[] =>
  PARTS.map((part) => ({ name: `${part} ${what}`, make: (rig) => make(rig, part) }));
export const STANDSTILLS: readonly Trouble[] = named('stood still', (rig, part) => rig.freeze(part, STILL_MS));
export const TROUBLES: readonly Trouble[] = [
  ...STANDSTILLS,
  ...named('killed', (rig, part) => rig.kill(part)),
  { name: 'all killed', make: (rig) => rig.killAll() },
];
