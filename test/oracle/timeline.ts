/** What happened in a project, in the order of its record: who began and ended when, and which outputs were current. */
import type { Attempt, ProjectEvent, ProjectRecord, Subtask } from './client.ts';
import { marksIn, type ModelCall } from './world.ts';

export interface Step extends Subtask {
  /** `phase/step` */
  key: string;
  phase: string;
  isSession: boolean;
  attempts: Attempt[];
}

/** From this event on this version is the current one of its phase. */
interface BecameCurrent {
  at: number;
  phase: string;
  version: number;
  marks: ReadonlySet<string>;
  how: 'promoted' | 'set by hand' | 'reverted';
}

export interface Timeline {
  steps: Step[];
  events: readonly ProjectEvent[];
  stepOf(event: ProjectEvent): Step | undefined;
  phaseOf(event: ProjectEvent): string | undefined;
  /** Of its own phase, all that have to be done before it. */
  ancestors(step: Step): Step[];
  /** Those whose work it is shown: what it depends on, through judges and gates. */
  shownTo(step: Step): Step[];
  /** The agent's work that a rejection by this step sends back: the nearest; of equally near ones the last that is named. */
  nearestWork(step: Step): Step | undefined;
  /** All that come after it in its phase. */
  descendants(step: Step): Step[];
  /** All phases before it. */
  upstream(phase: string): Set<string>;
  /** The last event of such a topic about a step, before another event. @returns 0 where there is none */
  last(step: Step, topics: readonly string[], before: number): number;
  lastOfPhase(phase: string, topics: readonly string[], before: number): number;
  current: BecameCurrent[];
  /** The current version of a phase at that event. */
  currentAt(phase: string, at: number): BecameCurrent | undefined;
  /** What the output of this attempt is known by. */
  markOf(step: Step, attemptNumber: number): string | undefined;
  callOf(step: Step, attemptNumber: number): ModelCall | undefined;
}

export const isJudge = ({ role }: Subtask): boolean => role === 'reviewer' || role === 'tester';
const lets = (step: Subtask): boolean => isJudge(step) || step.kind === 'gate';

export function timelineOf(record: ProjectRecord, calls: readonly ModelCall[]): Timeline {
  const { events } = record;
  const steps: Step[] = record.phases.flatMap(({ phase_slug: phase, task_kind, steps: own }) =>
    own.map((step) => ({
      ...step,
      phase,
      key: `${phase}/${step.step_slug}`,
      isSession: task_kind === 'edit_session',
    })),
  );
  const byId = new Map(steps.map((step) => [step.id, step]));
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const phaseById = new Map(record.phases.map(({ id, phase_slug }) => [id, phase_slug]));
  const callByMark = new Map(calls.map((call) => [call.made, call]));

  const direct = (step: Step): Step[] => step.depends_on.flatMap((slug) => byKey.get(`${step.phase}/${slug}`) ?? []);
  const closure = (step: Step, next: (of: Step) => Step[]): Step[] => {
    const found = new Set<Step>(next(step));
    for (const each of found) for (const more of next(each)) found.add(more);
    return [...found];
  };
  const shownTo = (step: Step): Step[] => [
    ...new Set(direct(step).flatMap((each) => (lets(each) ? [each, ...shownTo(each)] : [each]))),
  ];

  const isWork = (step: Step): boolean => step.kind === 'agent' && !isJudge(step);
  function nearestWork(step: Step): Step | undefined {
    const seen = new Set<Step>();
    for (let level = direct(step); level.length > 0;) {
      const found = level.findLast(isWork);
      if (found) return found;
      level = level.flatMap(direct).filter((each) => !seen.has(each));
      for (const each of level) seen.add(each);
    }
    return undefined;
  }

  const markOf = (step: Step, attemptNumber: number): string | undefined => {
    const attempt = step.attempts.find(({ attempt_number }) => attempt_number === attemptNumber);
    return [...marksIn(JSON.stringify(attempt?.output ?? ''))].find((mark) => mark.startsWith(`⟦${step.key}#`));
  };

  const marksOfVersion = (phase: string, version: number): Set<string> =>
    marksIn(
      JSON.stringify(
        record.artifacts.find((each) => each.phase_slug === phase && each.version === version)?.content ?? '',
      ),
    );
  const HOW: Record<string, BecameCurrent['how']> = {
    artifact_promoted: 'promoted',
    artifact_set_manually: 'set by hand',
    artifact_reverted: 'reverted',
  };
  const current = events.flatMap(({ id, topic, payload_jsonb }): BecameCurrent[] => {
    const how = HOW[topic];
    if (how === undefined) return [];
    const phase = String(payload_jsonb.phase_slug);
    const version = Number(payload_jsonb.version ?? payload_jsonb.to_version);
    return [{ at: id, phase, version, how, marks: marksOfVersion(phase, version) }];
  });

  const dependsOn = new Map(record.phases.map(({ phase_slug, depends_on }) => [phase_slug, depends_on]));
  const lastWhere = (topics: readonly string[], before: number, is: (event: ProjectEvent) => boolean): number =>
    events.findLast((event) => event.id < before && topics.includes(event.topic) && is(event))?.id ?? 0;

  return {
    steps,
    events,
    stepOf: ({ subtask_id }) => (subtask_id === null ? undefined : byId.get(subtask_id)),
    phaseOf: ({ task_id }) => (task_id === null ? undefined : phaseById.get(task_id)),
    ancestors: (step) => closure(step, direct),
    shownTo,
    nearestWork,
    descendants: (step) => steps.filter((each) => each.phase === step.phase && closure(each, direct).includes(step)),
    upstream(phase) {
      const found = new Set(dependsOn.get(phase));
      for (const each of found) for (const more of dependsOn.get(each) ?? []) found.add(more);
      return found;
    },
    last: (step, topics, before) => lastWhere(topics, before, ({ subtask_id }) => subtask_id === step.id),
    lastOfPhase: (phase, topics, before) =>
      lastWhere(topics, before, ({ task_id }) => task_id !== null && phaseById.get(task_id) === phase),
    current,
    currentAt: (phase, at) => current.findLast((each) => each.phase === phase && each.at < at),
    markOf,
    callOf(step, attemptNumber) {
      const mark = markOf(step, attemptNumber);
      return mark === undefined ? undefined : callByMark.get(mark);
    },
  };
}
