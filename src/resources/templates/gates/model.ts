/** Rules of who decides at a gate of people, and when. Pure. */
import { present } from '../../../platform/core/present.ts';
import type { WorkingRole } from '../../../platform/core/rights.ts';

/** Whoever is named in any of these fields may answer. */
interface Approvers {
  /** E-mail addresses, for as long as they are members of the workspace. */
  members?: string[] | undefined;
  /** Members who have one of these roles. */
  roles?: WorkingRole[] | undefined;
  /** E-mail addresses of anybody. */
  emails?: string[] | undefined;
  /** Every API key of the workspace. */
  api_keys?: boolean | undefined;
}

export const TIMEOUTS = ['reject', 'approve', 'pause', 'remind'] as const;
export type Timeout = (typeof TIMEOUTS)[number];

export interface GatePolicy {
  approvers?: Approvers | undefined;
  /** How many of the approvers have to approve. One rejection decides. */
  quorum?: number | undefined;
  /** Excludes whoever started the project or last changed by hand what the gate is about. */
  four_eyes?: boolean | undefined;
  /** In seconds. */
  due_in_s?: number | undefined;
  /** In seconds since the gate opened. */
  reminders_s?: number[] | undefined;
  /** These people may answer too once the gate is due. Its time then runs a second time. */
  escalate_to?: Approvers | undefined;
  /** An answer by a link also takes a confirmation code. */
  step_up?: 'code' | undefined;
  on_timeout?: Timeout | undefined;
}

const NAMES = [
  'approvers',
  'quorum',
  'four_eyes',
  'due_in_s',
  'reminders_s',
  'escalate_to',
  'step_up',
  'on_timeout',
] as const satisfies readonly (keyof GatePolicy)[];

/** @returns what a gate's configuration says of who decides and when; null where it says nothing */
export function policyIn(config: Record<string, unknown> | null): GatePolicy | null {
  const said = NAMES.filter((name) => config?.[name] !== undefined);
  return said.length === 0
    ? null
    : (Object.fromEntries(said.map((name) => [name, present(config)[name]])) as GatePolicy);
}

/** @returns whether the gate asks more of an answer than that it comes from the workspace */
export const isGuarded = (config: Record<string, unknown> | null): boolean =>
  config !== null && ['approvers', 'quorum', 'four_eyes'].some((name) => config[name] !== undefined);

/** A reminder, an escalation or a timeout, which comes to a gate with time. */
export interface GateMoment {
  what: 'reminder' | 'escalation' | 'timeout';
  /** For reminders: the number of this one, counted from 1. */
  nth: number;
  /** Milliseconds from now; 0 means that the moment has come. */
  inMs: number;
}

/**
 * @returns the seconds after which a gate times out. Its time runs a second time for those to whom it was escalated.
 */
const timeoutS = (dueS: number, escalateTo: Approvers | undefined): number => (escalateTo ? 2 * dueS : dueS);

/** @param elapsedMs is the time since the gate opened @returns the moments in the order in which they come */
export function momentsOf(policy: GatePolicy, elapsedMs: number): GateMoment[] {
  const { due_in_s: dueS, reminders_s: reminders = [], escalate_to: escalateTo } = policy;
  const at = (seconds: number): number => Math.max(0, Math.round(seconds * 1_000 - elapsedMs));
  const moments: GateMoment[] = reminders
    .toSorted((a, b) => a - b)
    .map((seconds, i) => ({ what: 'reminder', nth: i + 1, inMs: at(seconds) }));
  if (dueS !== undefined) {
    if (escalateTo) moments.push({ what: 'escalation', nth: 1, inMs: at(dueS) });
    moments.push({ what: 'timeout', nth: 1, inMs: at(timeoutS(dueS, escalateTo)) });
  }
  return moments.sort((a, b) => a.inMs - b.inMs);
}

/** Describes the policy for whoever looks at the workflow. It names nobody. */
export function describePolicy({
  quorum,
  approvers,
  four_eyes,
  due_in_s,
  escalate_to,
  on_timeout,
}: GatePolicy): string {
  const after = due_in_s === undefined ? undefined : timeoutS(due_in_s, escalate_to);
  return [
    ...(quorum === undefined ? [] : [`${quorum} approvals`]),
    ...(approvers === undefined ? [] : ['of its approvers']),
    ...(four_eyes ? ['four eyes'] : []),
    ...(escalate_to ? [`escalates after ${due_in_s} s`] : []),
    ...(after === undefined ? [] : [`after ${after} s: ${on_timeout ?? 'remind'}`]),
  ].join(', ');
}
