/**
 * Says for each kind of step how an attempt begins, what its work came to, and what effect a repetition would have. A
 * gate has no attempts. A new kind does not compile without an entry here.
 */
import { parseJson } from '../../../platform/core/json.ts';
import { present } from '../../../platform/core/present.ts';
import { storable } from '../../../platform/core/storable.ts';
import type { Effect } from '../../runs/model.ts';
import type { AttemptedKind } from '../../templates/model.ts';
import type { AttemptBeginning, AttemptFault, EffectOf } from '../model.ts';
import { BUDGET_BREACH } from '../stops/model.ts';
import type { OpenAttempt } from './attempt.ts';

/** What the work of an attempt came to, before it is decided what follows from that. */
export type Finding =
  | { kind: 'output'; output: unknown; validated: boolean | null }
  | { kind: 'invalid'; output: unknown; error: string }
  | { kind: 'error'; error: string }
  | { kind: 'budget_breach'; error: string }
  | { kind: 'stopped'; error: string }
  | { kind: 'crash' }
  /** The attempt died while it did something that must not happen twice. */
  | { kind: 'unknown' };

interface Ids {
  attemptId: string;
  runId: string | null;
}

interface Work {
  assignee: string;
  timeoutMs: number | null;
}

/** An attempt that ended without an outcome. */
interface DeadAttempt {
  assignee: string;
  /** The attempt's run, or a run that this spawned, began an irreversible call that may have happened. */
  hasCalled: boolean;
}

interface AttemptKind<Kind extends AttemptedKind> {
  /** The kind of actor that events name. */
  actorKind: 'agent' | 'action';
  /** Says whether an attempt has a run of its own. */
  hasRun: boolean;
  begin(work: Work, ids: Ids, effectOf: EffectOf): Extract<AttemptBeginning, { kind: Kind }>;
  /** @returns what the work came to, or `raw` where the output still has to be checked against the step's schemas */
  findingOf(attempt: OpenAttempt, fault: AttemptFault | undefined): Finding | { kind: 'raw'; output: unknown };
  /** @returns the value that is checked against a schema @throws where the output holds no such value */
  valueOf(raw: unknown): unknown;
  /** Says whether a failed attempt may have done something that must not happen twice. */
  isOnce(assignee: string, effectOf: EffectOf): boolean;
  /** @returns the effect that a dead attempt may have had and that another attempt would have once more */
  effectOfDeath(dead: DeadAttempt, effectOf: EffectOf): Effect;
}

/** Models like to put a code fence around the value that they were asked for. */
const FENCED = /^\s*```[a-z]*\n([^]*?)\n```\s*$/i;

export const ATTEMPT_KINDS: { readonly [Kind in AttemptedKind]: AttemptKind<Kind> } = {
  agent: {
    actorKind: 'agent',
    hasRun: true,
    begin: ({ assignee, timeoutMs }, { attemptId, runId }) => ({
      kind: 'agent',
      attemptId,
      runId: present(runId),
      agent: assignee,
      timeoutMs,
    }),
    findingOf({ runStatus, runOutput, runError, runErrorCode }) {
      switch (runStatus) {
        case 'succeeded':
          return { kind: 'raw', output: runOutput ?? '' };
        case 'failed': {
          const error = runError ?? 'the run failed';
          if (runErrorCode === 'tool_outcome_unknown') return { kind: 'unknown' };
          return runErrorCode === BUDGET_BREACH.runError ? { kind: 'budget_breach', error } : { kind: 'error', error };
        }
        case 'cancelled':
          return { kind: 'stopped', error: 'its run was cancelled' };
        case 'queued':
        case 'running':
        case null:
          return { kind: 'crash' };
      }
    },
    valueOf(raw) {
      const text = String(raw);
      return storable(parseJson(FENCED.exec(text)?.[1] ?? text));
    },
    isOnce: () => false,
    effectOfDeath: ({ hasCalled }) => (hasCalled ? 'irreversible' : 'idempotent'),
  },
  action: {
    actorKind: 'action',
    hasRun: false,
    begin: ({ assignee, timeoutMs }, { attemptId }, effectOf) => ({
      kind: 'action',
      attemptId,
      action: assignee,
      effect: effectOf(assignee),
      timeoutMs,
    }),
    findingOf({ output }, fault) {
      if (fault?.kind === 'failed') return { kind: 'error', error: fault.message };
      return fault || output === null ? { kind: 'crash' } : { kind: 'raw', output };
    },
    valueOf: (raw) => raw,
    isOnce: (assignee, effectOf) => effectOf(assignee) === 'irreversible',
    effectOfDeath: ({ assignee }, effectOf) => effectOf(assignee),
  },
};
