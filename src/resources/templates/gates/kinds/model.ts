/** All that the kind of a gate decides. Pure. */
import { GATE_KINDS, type GateKind } from '../../model.ts';

interface GateKindRules {
  /**
   * While it is open the inbox has a wait of this kind. A trigger opens it. Null: nobody can answer such a gate, and it is
   * in no inbox.
   */
  wait: 'gate' | 'webhook_gate' | null;
  /** People answer in the inbox and by the API, systems by an agent's tool or a signal. */
  answeredBy: 'people' | 'systems' | 'time' | 'other_project';
  /** The answer that it gets when its time is over: for some gates that is what they waited for. */
  atTimeout: { decision: 'approved' | 'rejected'; comment: string };
  /** Its answer is about the work that it shows, so it is asked again if that changes. */
  isAboutWork: boolean;
  /** Its answer is news from outside, with which a paused project goes on unless a person stopped it. */
  resumesProject: boolean;
}

const UNANSWERED = { decision: 'rejected', comment: 'nobody answered in time' } as const;

/** A new kind does not compile without its rules. */
export const GATE_KIND_RULES = {
  human: { wait: 'gate', answeredBy: 'people', atTimeout: UNANSWERED, isAboutWork: true, resumesProject: false },
  webhook: {
    wait: 'webhook_gate',
    answeredBy: 'systems',
    atTimeout: UNANSWERED,
    isAboutWork: true,
    resumesProject: true,
  },
  schedule: {
    wait: null,
    answeredBy: 'time',
    atTimeout: { decision: 'approved', comment: 'its time has come' },
    isAboutWork: false,
    resumesProject: false,
  },
  pipeline_dep: {
    wait: null,
    answeredBy: 'other_project',
    atTimeout: UNANSWERED,
    isAboutWork: false,
    resumesProject: false,
  },
} as const satisfies Record<GateKind, GateKindRules>;

/** Gates that somebody outside can answer. */
export type AnswerableGateKind = {
  [Kind in GateKind]: (typeof GATE_KIND_RULES)[Kind]['wait'] extends null ? never : Kind;
}[GateKind];
export const isAnswerable = (kind: GateKind): kind is AnswerableGateKind => GATE_KIND_RULES[kind].wait !== null;
export const ANSWERABLE_GATE_KINDS = GATE_KINDS.filter(isAnswerable);
