/** Formats one event of a project as one line. */
import { fieldsInLine } from './fields.ts';
import { paint, shorten } from './output.ts';
import type { ProjectEvent } from '../../client/src/api.ts';
import { formatUsd } from './timeline.ts';

/**
 * These parts of a payload are left out, because they say where the event is, or the line shows them in another way.
 */
const NOT_DETAILS = new Set([
  ...['phase_slug', 'step_slug', 'artifact_id', 'run_id', 'subtask_id', 'attempts_used', 'start', 'title', 'role'],
  ...['gate_config', 'decided_at', 'cost_usd', 'cost_total_usd', 'schema_slug'],
]);

/** @returns for example `12:00:01  subtask_succeeded        draft/write  attempt 2  $0.0004` */
export function formatProjectEvent({
  ts,
  level,
  topic,
  actor_kind,
  actor_id,
  attempt_number,
  payload_jsonb,
}: ProjectEvent) {
  const { phase_slug, step_slug, cost_usd } = payload_jsonb;
  const style = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'cyan';
  return [
    paint('gray', ts.slice(11, 19)),
    paint(style, topic.padEnd(26)),
    [phase_slug, step_slug].filter(Boolean).join('/'),
    attempt_number === null ? '' : `attempt ${attempt_number}`,
    shorten(describe(payload_jsonb), 100),
    actor_id === null || actor_kind === 'system' ? '' : paint('gray', `by ${actor_id}`),
    typeof cost_usd === 'string' && Number(cost_usd) > 0 ? paint('gray', formatUsd(cost_usd)) : '',
  ]
    .filter(Boolean)
    .join('  ')
    .trimEnd();
}

const describe = (payload: Record<string, unknown>): string =>
  Object.entries(payload)
    .filter(([name, value]) => !NOT_DETAILS.has(name) && value !== null && value !== 'initial')
    .map(([name, value]) => fieldsInLine({ [name]: value }))
    .join(' ');
