/**
 * Turns a timeline into spans. A call of a tool and its answer are one span, and the span of a model's answer begins
 * when the model was asked. Each span belongs to a lane, which is the kind of work that it is. Pure.
 */
import { detailOf, iconOf, isWait, titleOf } from './event-words.ts';
import type { IconName } from '../../ui/icon.tsx';
import type { RunEvent } from './types.ts';

export const LANES = ['model', 'tool', 'run', 'wait', 'mark'] as const;
export type Lane = (typeof LANES)[number];
export const LANE_WORDS: Record<Lane, string> = {
  model: 'Model',
  tool: 'Tools',
  run: 'Runs',
  wait: 'Waits',
  mark: 'Events',
};

export interface Span {
  /** The id of the span's first event. */
  id: number;
  lane: Lane;
  icon: IconName;
  title: string;
  detail: string;
  /** In milliseconds since the epoch. */
  start: number;
  /** Null while the span goes on. */
  end: number | null;
  isBad: boolean;
  costUsd: string | null;
  /** The run that a call started. */
  childRunId: string | null;
  events: readonly RunEvent[];
}

const time = (event: RunEvent): number => new Date(event.ts).getTime();
const callOf = ({ payload }: RunEvent): string | undefined =>
  typeof payload.call_id === 'string' ? payload.call_id : undefined;

const isFailure = ({ status, event_type: type }: RunEvent): boolean =>
  status === 'failed' || type === 'run_failed' || status === 'aborted';

function begun(event: RunEvent): Span {
  const at = time(event);
  const lane: Lane = isWait(event)
    ? 'wait'
    : event.event_type === 'claude_iteration' || event.event_type === 'claude_request'
      ? 'model'
      : event.event_type === 'tool_call'
        ? 'tool'
        : 'mark';
  return {
    id: event.id,
    lane,
    icon: iconOf(event),
    title: titleOf(event),
    detail: detailOf(event),
    start: at - (event.duration_ms ?? 0),
    end: lane === 'tool' ? null : at,
    isBad: isFailure(event),
    costUsd: event.cost_usd,
    childRunId: null,
    events: [event],
  };
}

/** Adds what a later event of the same call says to its span. */
function continued(span: Span, event: RunEvent): Span {
  const { payload } = event;
  const events = [...span.events, event];
  if (event.event_type === 'agent_run_started') {
    const childRunId = typeof payload.run_id === 'string' ? payload.run_id : null;
    return { ...span, events, lane: 'run', icon: 'runs', childRunId };
  }
  if (event.event_type === 'tool_call')
    return { ...span, events, lane: 'wait', icon: 'hand', title: 'Waits for a person' };
  return {
    ...span,
    events,
    end: time(event),
    detail: `${span.detail}${span.detail ? ' ' : ''}→ ${typeof payload.result_preview === 'string' ? payload.result_preview : ''}`,
    isBad: isFailure(event),
    costUsd: event.cost_usd ?? span.costUsd,
  };
}

/** @param isOver says that the run has ended, and with it every span that had not */
export function spansOf(events: readonly RunEvent[], isOver: boolean): Span[] {
  const spans: Span[] = [];
  const open = new Map<string, number>();
  for (const event of events) {
    const call = callOf(event);
    const at = call === undefined ? undefined : open.get(call);
    if (at !== undefined) {
      spans[at] = continued(spans[at]!, event);
      continue;
    }
    if (call !== undefined) open.set(call, spans.length);
    spans.push(begun(event));
  }
  const last = events.length > 0 ? time(events.at(-1)!) : 0;
  return isOver ? spans.map((span) => (span.end === null ? { ...span, end: last } : span)) : spans;
}

export interface Stretch {
  lane: Lane;
  /** From 0 to 1, as fractions of the whole. */
  from: number;
  to: number;
  isBad: boolean;
}

const COLUMNS = 400;

/**
 * Reduces spans to as many stretches as can be told apart in a small picture, because a lane may have thousands of
 * spans.
 */
export function stretchesOf(spans: readonly Span[], from: number, to: number): Stretch[] {
  const width = Math.max(1, to - from);
  const cells = new Map<string, Stretch>();
  for (const { lane, start, end, isBad } of spans) {
    const first = Math.floor(((start - from) / width) * COLUMNS);
    const last = Math.max(first + 1, Math.ceil((((end ?? to) - from) / width) * COLUMNS));
    const key = `${lane} ${first} ${last}`;
    const known = cells.get(key);
    if (known) known.isBad ||= isBad;
    else cells.set(key, { lane, from: first / COLUMNS, to: last / COLUMNS, isBad });
  }
  return [...cells.values()];
}
