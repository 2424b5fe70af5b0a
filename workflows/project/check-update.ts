/**
 * Checks updates before they reach their handlers. The service sends whole ones only; but operators and scripts can
 * send updates too, and one that is not whole would fail the workflow's task, or an activity, again and again.
 */
import { present } from '../../src/platform/core/present.ts';
import {
  ACTOR_KINDS,
  CASCADES,
  DECISIONS,
  PLAN_DECISIONS,
  WAYS,
  type PlanDecision,
  type Seen,
} from '../../src/resources/projects/model.ts';
import { ANSWERABLE_GATE_KINDS } from '../../src/resources/templates/gates/kinds/model.ts';

type Check = (value: unknown) => boolean;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const isText: Check = (value) => typeof value === 'string' && value.length <= 1_000 && !value.includes('\u0000');
const isUuid: Check = (value) => typeof value === 'string' && UUID.test(value);
const isOneOf =
  (words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);

const FIELDS = {
  subtaskId: isUuid,
  subtask_id: isUuid,
  taskId: isUuid,
  phaseSlug: isText,
  cascade: isOneOf(CASCADES),
  targetVersion: (value) => Number.isInteger(value),
  decision: isOneOf([...new Set<PlanDecision>([...DECISIONS, ...PLAN_DECISIONS])]),
  decidedBy: isText,
  gateKind: isOneOf(ANSWERABLE_GATE_KINDS),
} satisfies Record<string, Check>;
export type UpdateField = keyof typeof FIELDS;

type UnknownUpdate = { actor?: { kind?: unknown; id?: unknown }; seen?: unknown } & Record<string, unknown>;

const isSeen: Check = (value) => {
  const { waitId, revision, via } = (value ?? {}) as Partial<Record<keyof Seen, unknown>>;
  return isUuid(waitId) && Number.isSafeInteger(revision) && isOneOf(WAYS)(via);
};

/** @returns what is wrong with the update itself, whatever the record says */
export function findUpdateFault(command: unknown, required: readonly UpdateField[]): string | undefined {
  if (typeof command !== 'object' || command === null) return 'an update needs an object';
  const { actor, seen, ...fields } = command as UnknownUpdate;
  if (!isOneOf(ACTOR_KINDS)(actor?.kind) || !(present(actor).id === null || isText(present(actor).id))) {
    return `an update needs actor {kind, id}, kind one of ${ACTOR_KINDS.join(', ')}, id a text or null`;
  }
  if (seen !== undefined && !isSeen(seen)) return 'an update needs seen {waitId, revision, via}, or none';
  const wrong = required.find((name) => !FIELDS[name](fields[name]));
  return wrong && `an update of this kind needs a valid ${wrong}`;
}
