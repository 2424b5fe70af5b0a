/** Small random pipelines, and what people and machines may do to them. Plain data, so that a failure can be read. */
import fc from 'fast-check';
import { itemAt } from '../../../../src/platform/core/present.ts';
import { CASCADES, type Cascade } from '../../../../src/resources/projects/model.ts';
import { CASCADE_MODES, type PhaseSpec, type StepSpec } from '../../../../src/resources/templates/model.ts';
import { agentStep, gateStep, phaseSpec, reviewStep } from '../../../support/fixtures/projects.ts';

const KINDS = [
  'agent',
  'slow agent',
  'reviewer',
  'gate',
  'reworking gate',
  'expiring gate',
  'scheduled gate',
  'dependent gate',
  'named gate',
  'shared gate',
  'timed gate',
  'post',
] as const;
/** Members of the workspace besides whoever starts the project, who is nobody's approver. */
const PEOPLE = ['self', 'ana', 'ben'] as const;
export type Person = (typeof PEOPLE)[number];
export const emailOf = (person: Exclude<Person, 'self'>): string => `${person}@acme.example`;
const TIMEOUTS = ['pause', 'approve', 'reject'] as const;
/** In the place of the id of the project that `dependent gate` waits for. */
const AWAITED = 'the-awaited-project';
const SLOW_MS = 300;

/**
 * A new worker comes before the old one goes, after it, or while it still ends; or the old one is killed: nothing of it is
 * heard any more, whatever it was at.
 */
const RESTARTS = ['rolling', 'gap', 'overlapping', 'killed'] as const;
export type Restart = (typeof RESTARTS)[number];

/** Some of the positions before this one. */
const before = (position: number, minLength: number) =>
  fc.subarray([...Array(position).keys()], { minLength: Math.min(minLength, position) });

function step(kind: (typeof KINDS)[number], slug: string, depends_on: string[]): StepSpec {
  switch (kind) {
    case 'agent':
      return agentStep(slug, { depends_on });
    case 'slow agent':
      return agentStep(slug, { depends_on, instructions: `Write the ${slug}. [[sleep:${SLOW_MS}]]` });
    case 'reviewer':
      return reviewStep(slug, { depends_on });
    case 'gate':
      return { ...gateStep(slug, 'human', { on_reject: 'pause' }), depends_on };
    case 'reworking gate':
      return { ...gateStep(slug, 'human', { on_reject: 'rework' }), depends_on };
    case 'expiring gate':
      return { ...gateStep(slug, 'webhook', { on_reject: 'rework', expires_in_s: 1 }), depends_on };
    case 'scheduled gate':
      return { ...gateStep(slug, 'schedule', { delay_s: 1 }), depends_on };
    case 'dependent gate':
      return { ...gateStep(slug, 'pipeline_dep', { project_id: AWAITED }), depends_on };
    case 'named gate':
      return { ...gateStep(slug, 'human', { approvers: { members: [emailOf('ana')] } }), depends_on };
    case 'shared gate': {
      const approvers = { members: [emailOf('ana'), emailOf('ben')] };
      return { ...gateStep(slug, 'human', { approvers, quorum: 2, on_reject: 'rework' }), depends_on };
    }
    case 'timed gate': {
      const on_timeout = TIMEOUTS[Number(slug.slice(1)) % TIMEOUTS.length];
      return { ...gateStep(slug, 'human', { due_in_s: 1, on_timeout }), depends_on };
    }
    case 'post':
      return { step_slug: slug, kind: 'action', role: 'utility', assignee: 'http_post', depends_on, max_attempts: 1 };
  }
}

const steps: fc.Arbitrary<StepSpec[]> = fc
  .tuple(fc.constantFrom('agent', 'slow agent'), fc.array(fc.constantFrom(...KINDS), { maxLength: 3 }))
  .map(([first, others]) => [first, ...others] as (typeof KINDS)[number][])
  .chain((kinds) =>
    fc.tuple(...kinds.map((kind, at) => before(at, kind.includes('agent') ? 0 : 1))).map((dependencies) =>
      kinds.map((kind, at) =>
        step(
          kind,
          `s${at}`,
          itemAt(dependencies, at).map((each) => `s${each}`),
        ),
      ),
    ),
  );

export const phases: fc.Arbitrary<PhaseSpec[]> = fc.integer({ min: 2, max: 4 }).chain((count) =>
  fc
    .tuple(
      ...[...Array(count).keys()].map((at) =>
        fc.record({ steps, dependsOn: before(at, 0), mode: fc.constantFrom(...CASCADE_MODES) }),
      ),
    )
    .map((drawn) =>
      drawn.map(({ steps, dependsOn, mode }, at) =>
        phaseSpec(`p${at}`, steps, {
          depends_on: dependsOn.map((each) => `p${each}`),
          cascade_on_upstream_change: mode,
        }),
      ),
    ),
);

/** The phases with this project as the one that they wait for. */
export const waitingFor = (projectId: string, spec: readonly PhaseSpec[]): PhaseSpec[] =>
  JSON.parse(JSON.stringify(spec).replaceAll(AWAITED, projectId)) as PhaseSpec[];

/** Which of a list is meant: a share of its length, as the list is known only when the command is carried out. */
type Which = number;
export const choose = <T>(list: readonly T[], which: Which): T | undefined => list[Math.floor(which * list.length)];

/** Sent to the service, and held against what the model expects. */
export type Request =
  | { does: 'pause' | 'resume' | 'abandon' | 'runStep' }
  /** A failed step, or where there is none any step. */
  | { does: 'retry'; which: Which; addendum: boolean }
  | { does: 'retrigger'; which: Which; cascade: Cascade; addendum: boolean }
  | { does: 'revert'; which: Which; version: Which; cascade: Cascade }
  /** A waiting gate, or where there is none any gate. */
  | { does: 'resolve'; which: Which; decision: 'approved' | 'rejected' }
  /** In the inbox: to a gate as it is now, or as it was when it was first seen. */
  | { does: 'answer'; which: Which; by: Person; answer: 'approve' | 'reject'; sees: 'now' | 'before' }
  | { does: 'delegate'; which: Which; from: Person; to: Person }
  | { does: 'edit'; cascade: Cascade }
  | { does: 'plan'; which: Which; decision: 'approved' | 'rejected' | 'request_changes' | 'edit_plan'; phase: Which };

export type Command =
  | Request
  /** Addresses of nothing. */
  | { does: 'unknown' }
  /** Some of what goes on goes on. */
  | { does: 'let'; events: number }
  /** All goes on until it waits for people. */
  | { does: 'letAll' }
  /** The project that others wait for is completed. */
  | { does: 'completeAwaited' }
  /** The next of the sink's answers is an error. */
  | { does: 'breakSink' }
  /** So many of the next calls of models are refused: steps fail, and edit sessions, until they are mended. */
  | { does: 'breakModel'; calls: number }
  /** A phase may cost no more than nothing, or what it likes. */
  | { does: 'budget'; which: Which; limit: '0.000001' | null }
  | { does: 'restart'; how: Restart }
  /** An operator ends the project's workflow by hand. */
  | { does: 'terminate' }
  | { does: 'race'; commands: Request[] };

const which = fc.noBias(fc.integer({ min: 0, max: 99 })).map((percent) => percent / 100);
const cascade = fc.constantFrom(...CASCADES);
const one = <Does extends Command['does'], Rest extends object>(does: Does, rest: fc.Arbitrary<Rest>) =>
  rest.map((more) => ({ does, ...more }));
const bare = <Does extends Command['does']>(does: Does) => fc.constant({ does });

const requests: fc.WeightedArbitrary<Request>[] = [
  { weight: 4, arbitrary: bare('pause') },
  { weight: 5, arbitrary: bare('resume') },
  { weight: 3, arbitrary: bare('runStep') },
  { weight: 4, arbitrary: one('retry', fc.record({ which, addendum: fc.boolean() })) },
  { weight: 6, arbitrary: one('retrigger', fc.record({ which, cascade, addendum: fc.boolean() })) },
  { weight: 3, arbitrary: one('revert', fc.record({ which, version: which, cascade })) },
  {
    weight: 8,
    arbitrary: one('resolve', fc.record({ which, decision: fc.constantFrom('approved', 'approved', 'rejected') })),
  },
  {
    weight: 8,
    arbitrary: one(
      'answer',
      fc.record({
        which,
        by: fc.constantFrom(...PEOPLE),
        answer: fc.constantFrom('approve', 'approve', 'reject'),
        sees: fc.constantFrom('now', 'now', 'before'),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: one('delegate', fc.record({ which, from: fc.constantFrom(...PEOPLE), to: fc.constantFrom(...PEOPLE) })),
  },
  { weight: 2, arbitrary: one('edit', fc.record({ cascade })) },
  {
    weight: 3,
    arbitrary: one(
      'plan',
      fc.record({
        which,
        decision: fc.constantFrom('approved', 'rejected', 'request_changes', 'edit_plan'),
        phase: which,
      }),
    ),
  },
] as fc.WeightedArbitrary<Request>[];

const command: fc.Arbitrary<Command> = fc.oneof(
  ...requests,
  { weight: 8, arbitrary: one('let', fc.record({ events: fc.integer({ min: 1, max: 8 }) })) },
  { weight: 2, arbitrary: bare('completeAwaited') },
  { weight: 2, arbitrary: bare('breakSink') },
  { weight: 2, arbitrary: one('breakModel', fc.record({ calls: fc.integer({ min: 1, max: 6 }) })) },
  { weight: 2, arbitrary: one('budget', fc.record({ which, limit: fc.constantFrom('0.000001', null) })) },
  { weight: 2, arbitrary: one('restart', fc.record({ how: fc.constantFrom(...RESTARTS) })) },
  { weight: 1, arbitrary: bare('terminate') },
  { weight: 1, arbitrary: bare('unknown') },
  {
    weight: 4,
    arbitrary: one('race', fc.record({ commands: fc.array(fc.oneof(...requests), { minLength: 2, maxLength: 3 }) })),
  },
) as fc.Arbitrary<Command>;

export const story = fc
  .tuple(fc.array(command, { minLength: 10, maxLength: 20 }), fc.integer({ min: 0, max: 9 }))
  // One in ten is abandoned in the end.
  .map(([commands, end]): Command[] => (end === 0 ? [...commands, { does: 'abandon' }, { does: 'resume' }] : commands));

const OLD_GATES = KINDS.filter(
  (kind) => kind.endsWith('gate') && !['named gate', 'shared gate', 'timed gate'].includes(kind),
);
/**
 * Told among any number of drawn ones, which need dozens until each kind of gate was waited at: each is opened, and then
 * answered by whom it waits for.
 */
export const EVERY_GATE: [PhaseSpec[], Command[]] = [
  OLD_GATES.map((kind, at) => phaseSpec(`p${at}`, [step('agent', 's0', []), step(kind, 's1', ['s0'])])),
  [{ does: 'let', events: 8 }],
];

/** Gates that two share and that one has, of work that changes while they wait, and one whose time runs out. */
const FIRST = 0;
const SECOND = 0.99;
export const SHARED_GATES: [PhaseSpec[], Command[]] = [
  [
    phaseSpec('p0', [step('agent', 's0', [])]),
    ...(['shared gate', 'named gate', 'timed gate'] as const).map((kind, at) =>
      phaseSpec(`p${at + 1}`, [step('agent', 's0', []), step(kind, 's1', ['s0'])], { depends_on: ['p0'] }),
    ),
  ],
  [
    { does: 'letAll' },
    { does: 'pause' },
    { does: 'answer', which: FIRST, by: 'self', answer: 'approve', sees: 'now' },
    { does: 'answer', which: FIRST, by: 'ana', answer: 'approve', sees: 'now' },
    { does: 'resume' },
    { does: 'retrigger', which: FIRST, cascade: 'none', addendum: false },
    { does: 'letAll' },
    { does: 'pause' },
    { does: 'answer', which: FIRST, by: 'ben', answer: 'approve', sees: 'before' },
    { does: 'answer', which: FIRST, by: 'ben', answer: 'approve', sees: 'now' },
    { does: 'answer', which: SECOND, by: 'ben', answer: 'reject', sees: 'now' },
    { does: 'delegate', which: FIRST, from: 'ana', to: 'self' },
    { does: 'resolve', which: SECOND, decision: 'approved' },
    { does: 'answer', which: FIRST, by: 'self', answer: 'approve', sees: 'now' },
    { does: 'delegate', which: SECOND, from: 'ben', to: 'self' },
    { does: 'delegate', which: SECOND, from: 'ana', to: 'ben' },
    { does: 'answer', which: SECOND, by: 'ben', answer: 'approve', sees: 'now' },
    { does: 'answer', which: SECOND, by: 'ana', answer: 'reject', sees: 'before' },
  ],
];
