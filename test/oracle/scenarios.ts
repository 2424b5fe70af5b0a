/**
 * What has gone wrong once, each as a story that is told to the service from outside. Nothing here says how it is to end:
 * the rules of the oracle do.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { until, type Part, type Reply } from './client.ts';
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

export interface Scenario {
  name: string;
  /** @returns what did not hold */
  play(oracle: Oracle): Promise<string[]>;
}

const itemAt = <Item>(items: readonly Item[], at: number): Item => {
  const item = items[at];
  if (item === undefined) throw new Error(`nothing at ${at}`);
  return item;
};
const all = async (count: number, one: (at: number) => Promise<string[]>): Promise<string[]> =>
  (await Promise.all(Array.from({ length: count }, (_, at) => one(at)))).flat();

/** How long the service stands still while two things happen at one moment. */
const STILL_MS = 2_000;

/** y after p, who judges y after it, x independent, and what needs both. */
const twoSides = (who: StepSpec, last: StepSpec): PhaseSpec[] => [
  phase('make', [], [agent('p'), agent('y', ['p']), who, agent('x', []), last]),
];
const needsBoth = ['x', 'y'];
/** So much before or after the end of x is y sent back, in milliseconds. */
const OFFSETS_MS = [-10, -4, -1, 0, 0, 1, 4, 10];

/** y is sent back just as x ends. */
async function sentBackAsAnotherEnds(oracle: Oracle, phases: PhaseSpec[], still: Part | undefined): Promise<string[]> {
  const cases = await Promise.all(OFFSETS_MS.map(() => oracle.start(phases)));
  const byPerson = phases[0]?.steps[2]?.kind === 'gate';
  await Promise.all(
    cases.map(async (each) => {
      each.hold('make/x');
      if (!byPerson) each.hold('make/j');
      await Promise.all([
        each.untilCalled('make/x'),
        byPerson ? each.untilStep('make/j', 'blocked') : each.untilCalled('make/j'),
      ]);
    }),
  );
  const gates = await Promise.all(cases.map(async (each) => (await each.step('make/j')).id));
  const sendBack = async (at: number): Promise<void> => {
    const each = itemAt(cases, at);
    if (!byPerson) return each.release('make/j', { kind: 'reject', reason: 'More of it.' });
    await each.command(`subtasks/${itemAt(gates, at)}/resolve-gate`, { decision: 'rejected', comment: 'More of it.' });
  };
  const stands = still && oracle.rig.freeze(still, STILL_MS);
  await wait(100);
  await Promise.all(
    OFFSETS_MS.map(async (offset, at) => {
      const x = wait(Math.max(0, -offset)).then(() => itemAt(cases, at).release('make/x'));
      await Promise.all([x, wait(Math.max(0, offset)).then(() => sendBack(at))]);
    }),
  );
  await stands;
  return (await Promise.all(cases.map((each) => each.finish()))).flat();
}
const JUDGE = judge('j', ['y']);
const PERSON = gate('j', { on_reject: 'rework' }, 'human', { depends_on: ['y'] });
const STEP = agent('z', needsBoth);
const GATE = gate('z', {}, 'human', { depends_on: needsBoth });

/** a, b on it, d on b: the project stops before b begins, and a is done again. */
const CHAIN = [phase('a', [], [agent('s')]), phase('b', ['a'], [agent('s')]), phase('d', ['b'], [agent('s')])];
async function opensWhileUpstreamRuns(oracle: Oracle, cascade: string): Promise<string[]> {
  return all(8, async (at) => {
    const one = await oracle.start([...CHAIN, phase('c', [], [{ ...agent('s'), max_attempts: 1 }])]);
    one.hold('a/s');
    one.hold('c/s');
    await Promise.all([one.untilCalled('a/s'), one.untilCalled('c/s')]);
    // What fails elsewhere pauses the project between the end of a and the beginning of b.
    one.release('c/s', { kind: 'fail' });
    await wait(at * 10);
    one.release('a/s');
    await Promise.all([one.untilPhase('a', 'succeeded'), one.untilPhase('c', 'failed')]);
    one.hold('a/s');
    const called = one.untilCalled('a/s', 2).catch(() => {});
    await one.retrigger('a', cascade);
    await one.command(`subtasks/${(await one.step('c/s')).id}/retry`);
    await one.command('resume');
    await called;
    // Whoever begins too early has had the time for it.
    await wait(1_000);
    one.release('a/s');
    return one.finish();
  });
}

/** A retrigger right at the end of what it is for. */
const retriggeredAtItsEnd = (oracle: Oracle): Promise<string[]> =>
  all(6, async (at) => {
    const one = await oracle.start(CHAIN);
    await until('a ends', async () => {
      const { status } = await one.retrigger('a', (['strict', 'lazy', 'none'] as const)[at % 3] ?? 'lazy');
      return status === 200;
    });
    return one.finish();
  });

/** The draft is done again after its approval and before it is posted. */
async function publishesAnother(oracle: Oracle, cascade: string, apart: boolean): Promise<string[]> {
  const later = gate('later', { delay_s: 2 }, 'schedule');
  const one = await oracle.start(
    apart
      ? [
          phase('draft', [], [agent('s')]),
          phase('sign', ['draft'], [gate('ok')]),
          phase('publish', ['draft', 'sign'], [later, post()]),
        ]
      : [phase('draft', [], [agent('s')]), phase('publish', ['draft'], [gate('ok'), later, post()])],
  );
  const name = apart ? 'sign/ok' : 'publish/ok';
  await one.untilStep(name, 'blocked');
  await one.decide(name, 'approved');
  await one.untilStep('publish/later', 'blocked', 'running');
  await one.retrigger('draft', cascade);
  return one.finish();
}

/** Spared once, and then reached by a change that spares nobody. */
async function sparedOnce(oracle: Oracle, cascade: string, underWay: boolean): Promise<string[]> {
  const one = await oracle.start([phase('a', [], [agent('s')]), phase('b', ['a'], [agent('s')])]);
  if (underWay) {
    one.hold('b/s');
    await one.untilCalled('b/s');
  } else await one.untilProject('completed');
  const again = async (how: string) => {
    const before = (await one.record()).artifacts.length;
    await one.retrigger('a', how);
    await until('the next version of a', async () => (await one.record()).artifacts.length > before);
    await one.untilPhase('a', 'succeeded');
  };
  await again('none');
  if (!underWay) await one.untilProject('completed');
  await again(cascade);
  return one.finish();
}

/** The owner writes the text by hand and approves it behind four eyes. */
async function ownText(oracle: Oracle): Promise<string[]> {
  const one = await oracle.start([
    phase('draft', [], [agent('s')]),
    phase('publish', ['draft'], [gate('ok', { four_eyes: true }), post()]),
  ]);
  await one.untilStep('publish/ok', 'blocked');
  await one.edit([{ kind: 'edit_artifact', phase_slug: 'draft', content: handMark('draft', 1) }], 'lazy', OWNER);
  await one.untilStep('publish/ok', 'blocked', 'succeeded');
  await one.decide('publish/ok', 'approved', OWNER);
  return one.finish();
}

/** So many at once, that one of them is at the moment between what is recorded and what Temporal is told. */
const MANY = 12;
const waiting = [phase('a', [], [gate('ok'), agent('s')])];

/**
 * Everything is killed while each of them is asked something: once the first has its answer Temporal stands still, so that
 * what others ask is recorded and cannot be told to it, and then nothing is left of what was in memory.
 */
async function killedWhile(oracle: Oracle, ask: (one: Case, gateId: string) => Promise<Reply>): Promise<string[]> {
  const cases = await Promise.all(Array.from({ length: MANY }, () => oracle.start(waiting)));
  const gates = await Promise.all(cases.map(async (one) => (await one.untilStep('a/ok', 'blocked')).id));
  const asked = cases.map((one, at) => ask(one, itemAt(gates, at)));
  await Promise.race(asked);
  const still = oracle.rig.freeze('temporal', STILL_MS);
  await wait(STILL_MS / 2);
  await oracle.rig.killAll();
  await Promise.all([still, ...asked]);
  const found = await Promise.all(cases.map(async (one) => [...(await one.finish()), ...(await one.escape())]));
  return found.flat();
}

const answeredAtAKill = (oracle: Oracle): Promise<string[]> =>
  killedWhile(oracle, (one, gateId) => one.command(`subtasks/${gateId}/resolve-gate`, { decision: 'approved' }, OTHER));
const askedToEditAtAKill = (oracle: Oracle): Promise<string[]> =>
  killedWhile(oracle, (one) => one.command('edit-sessions', { instruction: 'Shorter.' }));
const abandonedAtAKill = (oracle: Oracle): Promise<string[]> => killedWhile(oracle, (one) => one.command('abandon'));

export const SCENARIOS: readonly Scenario[] = [
  ...[JUDGE, PERSON].flatMap((who) =>
    [STEP, GATE].flatMap((last) =>
      ([undefined, 'service', 'temporal'] as const).map((still) => ({
        name: `1: ${who === JUDGE ? 'a judge' : 'a person'} sends back as ${last === STEP ? 'a step' : 'a gate'} is about to begin${still ? `, while ${still} stands still` : ''}`,
        play: (oracle: Oracle) => sentBackAsAnotherEnds(oracle, twoSides(who, last), still),
      })),
    ),
  ),
  ...(['strict', 'lazy', 'none'] as const).map((cascade) => ({
    name: `2: a phase that waits at a pause, and its upstream is retriggered (${cascade})`,
    play: (oracle: Oracle) => opensWhileUpstreamRuns(oracle, cascade),
  })),
  { name: '2: a phase is retriggered right at its end', play: retriggeredAtItsEnd },
  ...(['strict', 'lazy', 'none'] as const).flatMap((cascade) =>
    [false, true].map((apart) => ({
      name: `5: the draft is done again (${cascade}) after its approval${apart ? ' in a phase of its own' : ''}`,
      play: (oracle: Oracle) => publishesAnother(oracle, cascade, apart),
    })),
  ),
  ...(['strict', 'lazy'] as const).flatMap((cascade) =>
    [false, true].map((underWay) => ({
      name: `6: spared once, then reached by ${cascade}${underWay ? ', while it is under way' : ''}`,
      play: (oracle: Oracle) => sparedOnce(oracle, cascade, underWay),
    })),
  ),
  { name: '7: four eyes and a text by hand', play: ownText },
];

/** Those that kill everything. */
export const KILL_SCENARIOS: readonly Scenario[] = [
  { name: '3: everything is killed while gates are answered', play: answeredAtAKill },
  { name: '3: everything is killed while projects are abandoned', play: abandonedAtAKill },
  { name: '4: everything is killed while edit sessions are asked for', play: askedToEditAtAKill },
];
