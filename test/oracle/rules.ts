/**
 * What must hold of every project, said from the specification alone: of its record, of what the model was shown and of
 * what was posted. Each rule gives a sentence for each time that it did not hold.
 */
import type { ProjectRecord } from './client.ts';
import { isJudge, timelineOf, type Step, type Timeline } from './timeline.ts';
import type { ModelCall, Post } from './world.ts';

export interface Observed {
  record: ProjectRecord;
  /** Of this project alone. */
  calls: readonly ModelCall[];
  posts: readonly Post[];
  /** E-mail address of whoever started it; undefined where a key did. */
  startedBy?: string;
  /** Answers that were sent by signal, by whom they said. */
  signalledBy: ReadonlySet<string>;
}

const BEGIN = 'subtask_attempt_started';
const DONE = ['subtask_succeeded'];
const PASSED = ['gate_resolved'];
const AGAIN = ['phase_retriggered'];

const says = (mark: ReadonlySet<string>): string => [...mark].join(' ') || 'nothing';

/** @returns what did not hold; empty when all did */
export function violationsOf(observed: Observed): string[] {
  const timeline = timelineOf(observed.record, observed.calls);
  return [
    ...stepsBeginInOrder(timeline),
    ...phasesBeginInOrder(timeline, observed.record),
    ...promptsAreCurrent(timeline),
    ...(observed.record.status === 'completed' ? completedIsFresh(timeline, observed.record) : []),
    ...postsWereApproved(timeline, observed.posts),
    ...actorsAreWhoCaused(timeline, observed),
    ...fourEyesHold(timeline, observed),
  ].map((what) => `${observed.record.id}: ${what}`);
}

/**
 * What is sent back by each event: a judge's rejection, or that of a gate that has the work done again. The nearest work
 * of an agent before it, and all that is built on that, has to be done once more before anything that needs it begins.
 */
function sentBack({ events, stepOf, nearestWork, descendants }: Timeline): { at: number; steps: Set<Step> }[] {
  return events.flatMap((event) => {
    const judge = stepOf(event);
    const isRejection =
      (event.topic === 'review_feedback_recorded' && judge !== undefined && isJudge(judge)) ||
      (event.topic === 'gate_resolved' && event.payload_jsonb.effect === 'rework');
    const work = judge && isRejection ? nearestWork(judge) : undefined;
    return work ? [{ at: event.id, steps: new Set([work, ...descendants(work)]) }] : [];
  });
}

/** No step begins, and no gate opens, while something that it needs is pending, sent back or reset. */
function stepsBeginInOrder(timeline: Timeline): string[] {
  const { events, stepOf, ancestors, last, lastOfPhase } = timeline;
  const rejections = sentBack(timeline);
  return events.flatMap((event) => {
    const step = stepOf(event);
    if (!step || step.isSession || (event.topic !== BEGIN && event.topic !== 'gate_awaiting')) return [];
    const reset = lastOfPhase(step.phase, AGAIN, event.id);
    return ancestors(step).flatMap((needed) => {
      const done = last(needed, needed.kind === 'gate' ? PASSED : DONE, event.id);
      const at = `${step.key} began (event ${event.id})`;
      if (done === 0) return [`freshness: ${at} before ${needed.key} was done`];
      if (done < reset) return [`freshness: ${at} although ${needed.key} was to run again (event ${reset})`];
      const back = rejections.findLast(({ at: when, steps }) => when < event.id && steps.has(needed));
      if (back && done < back.at) {
        return [`freshness: ${at} although ${needed.key} had been sent back (event ${back.at})`];
      }
      if (needed.kind === 'gate') {
        if (isClock(needed)) return [];
        const changed = Math.max(...ancestors(needed).map((each) => last(each, DONE, event.id)), 0);
        if (changed > done) return [`approvals: ${at} by an answer of ${needed.key} from before the work was redone`];
        return [];
      }
      const begun = last(needed, [BEGIN], event.id);
      return begun > done ? [`freshness: ${at} while ${needed.key} was running (event ${begun})`] : [];
    });
  });
}

/** How a phase comes to have a current artifact, or to its end without. */
const PHASE_ENDS = ['task_succeeded', 'task_stale', 'task_skipped', 'artifact_set_manually', 'artifact_reverted'];

/** No phase begins on an upstream that runs, or is to run, again. */
function phasesBeginInOrder({ events, phaseOf, lastOfPhase }: Timeline, { phases }: ProjectRecord): string[] {
  return events.flatMap((event) => {
    const phase = phaseOf(event);
    if (event.topic !== 'task_started' || phase === undefined) return [];
    const needs = phases.find(({ phase_slug }) => phase_slug === phase)?.depends_on ?? [];
    return needs.flatMap((before) => {
      const ended = lastOfPhase(before, PHASE_ENDS, event.id);
      const begun = lastOfPhase(before, ['task_started', ...AGAIN], event.id);
      return begun > ended
        ? [`freshness: phase ${phase} began (event ${event.id}) while ${before} ran again (event ${begun})`]
        : [];
    });
  });
}

/** Every prompt has the outputs that were current when its attempt began, and none of what they replaced. */
function promptsAreCurrent({ events, stepOf, shownTo, last, callOf, markOf, current, currentAt, upstream }: Timeline) {
  return events.flatMap((event) => {
    const step = stepOf(event);
    if (!step || step.isSession || event.topic !== BEGIN || event.attempt_number === null) return [];
    const call = callOf(step, event.attempt_number);
    if (!call) return [];
    const at = `the prompt of ${step.key} #${event.attempt_number} (event ${event.id})`;
    const found: string[] = [];
    for (const needed of shownTo(step).filter(({ kind }) => kind === 'agent')) {
      const done = events.find(({ id }) => id === last(needed, DONE, event.id));
      const mark = done?.attempt_number ? markOf(needed, done.attempt_number) : undefined;
      if (mark !== undefined && !call.shown.has(mark)) {
        found.push(`freshness: ${at} lacks ${mark}, the output of ${needed.key}`);
      }
    }
    const end = events.find(
      ({ id, subtask_id, topic }) => id > event.id && subtask_id === step.id && DONE.includes(topic),
    );
    for (const phase of upstream(step.phase)) {
      const seen = [...call.shown].filter((mark) => ownerOf(mark) === phase);
      const allowed = new Set([
        ...(currentAt(phase, event.id)?.marks ?? []),
        ...current
          .filter((each) => each.phase === phase && each.at > event.id && each.at < (end?.id ?? Infinity))
          .flatMap(({ marks }) => [...marks]),
      ]);
      for (const mark of seen.filter((each) => !allowed.has(each))) {
        found.push(`freshness: ${at} has ${mark}, and ${phase} was ${says(allowed)}`);
      }
    }
    return found;
  });
}
/** The phase that an output is of; of a text that was set by hand, the phase that it was set for. */
const ownerOf = (mark: string): string => mark.slice(1, mark.lastIndexOf('/'));

const END = Infinity;

/** What is complete and not stale was made from what is current, or spared by `none` from exactly these changes. */
function completedIsFresh(timeline: Timeline, record: ProjectRecord): string[] {
  const { steps, events, ancestors, shownTo, last, lastOfPhase, callOf, markOf, current, currentAt } = timeline;
  const found: string[] = [];
  for (const { phase_slug: phase, status, task_kind, depends_on } of record.phases) {
    if (status !== 'succeeded' || task_kind !== 'regular') continue;
    const begun = lastOfPhase(phase, ['task_started'], END);
    const artifact = currentAt(phase, END);
    if (artifact && artifact.how !== 'promoted') continue;
    for (const step of steps.filter((each) => each.phase === phase && !isClock(each))) {
      const done = events.find(({ id }) => id === last(step, step.kind === 'gate' ? PASSED : DONE, END));
      if (!done) continue;
      // An answer counts for what there is when it is given.
      const seen = step.kind === 'gate' ? done.id : last(step, [BEGIN], done.id);
      for (const needed of ancestors(step).filter(({ kind }) => kind !== 'gate')) {
        const redone = last(needed, DONE, END);
        if (redone > seen) {
          const kind = step.kind === 'gate' ? 'approvals' : 'freshness';
          found.push(`${kind}: in the end ${step.key} is of before ${needed.key} was done again (event ${redone})`);
        }
      }
      const call = done.attempt_number === null ? undefined : callOf(step, done.attempt_number);
      for (const needed of shownTo(step).filter(({ kind }) => kind === 'agent')) {
        const last_ = events.find(({ id }) => id === last(needed, DONE, END));
        const mark = last_?.attempt_number ? markOf(needed, last_.attempt_number) : undefined;
        if (call && mark !== undefined && !call.shown.has(mark)) {
          found.push(`freshness: in the end ${step.key} was made without ${mark}`);
        }
      }
      for (const before of depends_on) {
        const now = currentAt(before, END);
        const changes = current.filter((each) => each.phase === before && each.at > seen);
        const unspared = changes.filter((change) => !isSpared(timeline, phase, before, change.at));
        if (now && unspared.length > 0 && !consumes(call, before, now.marks)) {
          const versions = changes.map(({ version }) => version).join(', ');
          const kind = step.kind === 'gate' ? 'approvals' : 'freshness';
          found.push(
            `${kind}: in the end ${step.key} is of before ${before} changed (now v${now.version}, changed to ${versions})` +
              ` and ${phase} is not stale (began at event ${begun})`,
          );
        }
      }
    }
  }
  return [...new Set(found)];
}

/** A gate at which nobody approves anything. */
const isClock = ({ gate_kind: kind }: Step): boolean => kind === 'schedule' || kind === 'pipeline_dep';

const consumes = (call: ModelCall | undefined, phase: string, marks: ReadonlySet<string>): boolean => {
  if (!call) return false;
  const seen = [...call.shown].filter((mark) => ownerOf(mark) === phase);
  return seen.length > 0 && seen.every((mark) => marks.has(mark));
};

/** Whether all that led to the change that became current with that event was with `none` for this phase. */
function isSpared(
  { events, phaseOf, upstream, current }: Timeline,
  phase: string,
  changed: string,
  at: number,
): boolean {
  const before = current.findLast((each) => each.phase === changed && each.at < at)?.at ?? 0;
  const causes = events.filter(({ topic }) => CAUSES.includes(topic));
  const above = upstream(changed).add(changed);
  const own = causes.filter((cause) => {
    const of = cause.payload_jsonb.phase_slug ?? phaseOf(cause);
    return cause.id > before && cause.id <= at && above.has(of);
  });
  // What a cause spares is said right after it.
  return (
    own.length > 0 &&
    own.every((cause) => {
      const next = causes.find(({ id }) => id > cause.id)?.id ?? Infinity;
      return events.some(
        ({ id, topic, payload_jsonb }) =>
          topic === 'cascade_skipped' && id > cause.id && id < next && payload_jsonb.phase_slugs.includes(phase),
      );
    })
  );
}
const CAUSES = [...AGAIN, 'artifact_set_manually', 'artifact_reverted'];

/** What was posted was approved, by every gate before the post, in exactly the version that was posted. */
function postsWereApproved(timeline: Timeline, posts: readonly Post[]): string[] {
  const { steps, events, ancestors, upstream, current, currentAt, lastOfPhase, stepOf, markOf } = timeline;
  const posting = steps.find((step) => step.kind === 'action' && step.assignee === 'http_post');
  if (!posting) return [];
  const begins = events.filter((event) => event.topic === BEGIN && event.subtask_id === posting.id);
  const inPhase = ancestors(posting);
  const before = upstream(posting.phase);
  const gates = steps.filter(
    ({ gate_kind, phase, ...step }) =>
      (gate_kind === 'human' || gate_kind === 'webhook') &&
      (before.has(phase) || inPhase.some(({ id }) => id === step.id)),
  );
  /** From when on this output could be shown to whoever decides at that gate; undefined where the gate has no say in it. */
  function shownFrom(mark: string, gate: Step, posted: number): number | undefined {
    const maker = events.find((event) => {
      const step = stepOf(event);
      return (
        step !== undefined &&
        DONE.includes(event.topic) &&
        event.attempt_number !== null &&
        markOf(step, event.attempt_number) === mark
      );
    });
    const step = maker && stepOf(maker);
    if (step && step.phase === gate.phase) return ancestors(gate).includes(step) ? maker.id : undefined;
    const made = ownerOf(mark);
    if (!upstream(gate.phase).has(made)) return undefined;
    const at = current.find(({ phase, marks }) => phase === made && marks.has(mark))?.at;
    // A phase with work of its own is spared as a whole, or stale for all to see; one of gates alone is a question.
    const isStale = lastOfPhase(gate.phase, ['task_stale'], posted) > lastOfPhase(gate.phase, ['task_started'], posted);
    const isLeft = isStale || isSpared(timeline, gate.phase, made, at ?? 0);
    const hasWork = steps.some((each) => each.phase === gate.phase && each.kind !== 'gate');
    return gate.phase !== posting?.phase && hasWork && isLeft ? undefined : at;
  }
  return posts.flatMap((post, at) => {
    const begun = begins[posts.length === begins.length ? at : begins.length - 1];
    if (!begun) return [`approvals: something was posted, and ${posting.key} never began`];
    // Whoever chose the artifact of a phase by hand took the word of its gates for it.
    const asked = gates.filter(
      ({ phase }) => phase === posting.phase || (currentAt(phase, begun.id)?.how ?? 'promoted') === 'promoted',
    );
    return asked.flatMap((gate) =>
      [...post.held].flatMap((mark) => {
        const from = shownFrom(mark, gate, begun.id);
        if (from === undefined) return [];
        const isApproved = events.some(
          (event) =>
            event.topic === 'gate_resolved' &&
            event.subtask_id === gate.id &&
            event.payload_jsonb.decision === 'approved' &&
            event.id < begun.id &&
            event.id > from,
        );
        return isApproved
          ? []
          : [`approvals: ${mark} was posted (event ${begun.id}), and ${gate.key} never approved it (made at ${from})`];
      }),
    );
  });
}

/** The actor of an event is who caused it. */
function actorsAreWhoCaused({ events, stepOf }: Timeline, { signalledBy }: Observed): string[] {
  return events.flatMap((event) => {
    const { topic, id, actor_kind: kind, actor_id: who, payload_jsonb: payload } = event;
    if (topic === 'artifact_set_manually' || topic === 'edit_session_started') {
      return kind === 'human' && who !== null ? [] : [`actors: ${topic} (event ${id}) names ${kind} ${String(who)}`];
    }
    if (topic !== 'gate_resolved') return [];
    const gate = stepOf(event);
    const by = String(payload.decided_by);
    const isSignal = signalledBy.has(by);
    if (gate?.gate_kind !== 'human' && gate?.gate_kind !== 'webhook') return [];
    if (by === 'system') return kind === 'system' ? [] : [`actors: a time-out (event ${id}) names ${kind}`];
    if (isSignal ? kind === 'external' && who === by : kind === 'human' && who === by) return [];
    return [`actors: the answer of ${by} at ${gate.key} (event ${id}) names ${kind} ${String(who)}`];
  });
}

/** Nobody approves, behind `four_eyes`, what they started or wrote. */
function fourEyesHold({ events, stepOf, upstream, current, steps }: Timeline, { startedBy }: Observed): string[] {
  return events.flatMap((event) => {
    const gate = stepOf(event);
    if (!gate || event.topic !== 'gate_resolved' || gate.gate_config?.four_eyes !== true) return [];
    if (event.payload_jsonb.decision !== 'approved') return [];
    const by = String(event.payload_jsonb.decided_by);
    if (by === startedBy) return [`actors: ${by} started it and approved ${gate.key} (event ${event.id})`];
    const before = new Set([...upstream(gate.phase), gate.phase]);
    return [...before].flatMap((phase) => {
      const now = current.findLast((each) => each.phase === phase && each.at < event.id);
      if (now?.how !== 'set by hand') return [];
      return authorOf(now.at) === by
        ? [`actors: ${by} wrote ${phase} v${now.version} and approved ${gate.key} (event ${event.id})`]
        : [];
    });
  });

  /** Who approved the plan by which it was set. */
  function authorOf(at: number): string | undefined {
    const plans = steps.filter(({ isSession, kind }) => isSession && kind === 'gate').map(({ id }) => id);
    const approval = events.findLast(
      ({ id, topic, subtask_id }) =>
        id < at && topic === 'gate_resolved' && subtask_id !== null && plans.includes(subtask_id),
    );
    return approval && String(approval.payload_jsonb.decided_by);
  }
}

/** For a text that a person sets by hand in this phase. */
export const handMark = (phase: string, number: number): string => `⟦${phase}/hand#${number}⟧`;
