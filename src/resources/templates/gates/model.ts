/** Who decides at a gate of people, and when. Pure. */
import { present } from '../../../platform/core/present.ts';
import type { Role } from '../../../platform/core/rights.ts';

/** Whoever is named in any of these may answer. */
export interface Approvers {
  /** E-mail addresses, for as long as they are members of the workspace. */
  members?: string[] | undefined;
  /** Members who have one of these roles. */
  roles?: Role[] | undefined;
  /** E-mail addresses of anybody. */
  emails?: string[] | undefined;
  /** Every API key of the workspace. */
  api_keys?: boolean | undefined;
}

export const TIMEOUTS = ['reject', 'approve', 'pause', 'remind'] as const;
export type Timeout = (typeof TIMEOUTS)[number];

export interface GatePolicy {
  approvers?: Approvers | undefined;
  /** How many of them have to approve; one rejection decides. */
  quorum?: number | undefined;
  /** Not whoever started the project, or last changed by hand what the gate is about. */
  four_eyes?: boolean | undefined;
  /** Seconds. */
  due_in_s?: number | undefined;
  /** Seconds since it opened. */
  reminders_s?: number[] | undefined;
  /** Those who may answer too once it is due; the time then runs a second time. */
  escalate_to?: Approvers | undefined;
  on_timeout?: Timeout | undefined;
}

const NAMES = [
  'approvers',
  'quorum',
  'four_eyes',
  'due_in_s',
  'reminders_s',
  'escalate_to',
  'on_timeout',
] as const satisfies readonly (keyof GatePolicy)[];

/** What a gate's configuration says of who decides and when; null where it says nothing. */
export function policyIn(config: Record<string, unknown> | null): GatePolicy | null {
  const said = NAMES.filter((name) => config?.[name] !== undefined);
  return said.length === 0
    ? null
    : (Object.fromEntries(said.map((name) => [name, present(config)[name]])) as GatePolicy);
}

/** Whether an answer takes more than that anybody of the workspace gives it. */
export const isGuarded = (config: Record<string, unknown> | null): boolean =>
  config !== null && ['approvers', 'quorum', 'four_eyes'].some((name) => config[name] !== undefined);

/** Something that comes to a gate with time. */
export interface GateMoment {
  what: 'reminder' | 'escalation' | 'timeout';
  /** Of reminders: the how manieth. */
  nth: number;
  /** Milliseconds from now; 0: it has come. */
  inMs: number;
}

/** Seconds after which the time of a gate is over: it runs a second time for those to whom it was escalated. */
const timeoutS = (dueS: number, escalateTo: Approvers | undefined): number => (escalateTo ? 2 * dueS : dueS);

/** In the order in which they come. @param elapsedMs since the gate opened */
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

/** For whoever looks at the workflow; names nobody. */
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
