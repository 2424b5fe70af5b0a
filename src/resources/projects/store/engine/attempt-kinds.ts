/**
 * What each kind of step decides about its attempts: how one begins, what its work came to, what another one would do
 * once more. A gate has none. A new kind does not compile without its entry.
 */
import { parseJson } from '../../../../platform/core/json.ts';
import { present } from '../../../../platform/core/present.ts';
import { storable } from '../../../../platform/core/storable.ts';
import type { Effect } from '../../../runs/model.ts';
import type { AttemptedKind } from '../../../templates/model.ts';
import type { AttemptBeginning, AttemptFault, EffectOf } from '../../model.ts';
import type { OpenAttempt } from './attempt.ts';

/** What came of an attempt, before it is known what follows from that. */
export type Finding =
  | { kind: 'output'; output: unknown; validated: boolean | null }
  | { kind: 'invalid'; output: unknown; error: string }
  | { kind: 'error'; error: string }
  | { kind: 'budget'; error: string }
  | { kind: 'stopped'; error: string }
  | { kind: 'crash' }
  /** It died doing what must not be done twice. */
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
  /** Its run, or one that this spawned, began an irreversible call that may have happened. */
  hasCalled: boolean;
}

interface AttemptKind<Kind extends AttemptedKind> {
  /** Who did it, in events. */
  actorKind: 'agent' | 'action';
  /** An attempt is a run of its own. */
  hasRun: boolean;
  begin(work: Work, ids: Ids, effectOf: EffectOf): Extract<AttemptBeginning, { kind: Kind }>;
  /** @returns what it came to; `raw` where that is still to be held against its schemas */
  findingOf(attempt: OpenAttempt, fault: AttemptFault | undefined): Finding | { kind: 'raw'; output: unknown };
  /** @returns the value that is held against a schema. @throws where there is none in it */
  valueOf(raw: unknown): unknown;
  /** Whatever came of a failed attempt, it may have happened, and must not happen twice. */
  isOnce(assignee: string, effectOf: EffectOf): boolean;
  /** What its death may have left behind, and another attempt would do once more. */
  effectOfDeath(dead: DeadAttempt, effectOf: EffectOf): Effect;
}

/** Models like to wrap what they were asked for. */
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
          return runErrorCode === 'budget_exceeded' ? { kind: 'budget', error } : { kind: 'error', error };
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
