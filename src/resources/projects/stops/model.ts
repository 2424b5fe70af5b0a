/** What stops a project that ran out of money, and who may raise it. Pure. */
import { Problem, type RunFailure } from '../../../platform/core/problem.ts';
import { can, type Standing } from '../../../platform/core/rights.ts';
import { limitOf, type Limit } from '../../cost/limits/model.ts';
import type { Topic } from '../feed/model.ts';
import type { PauseReason } from '../model.ts';

/**
 * A budget breach: a call would cost more than its budgets have left. Clients know it by one word as the error of a run,
 * one as a topic of the feed, and one as the reason of a pause.
 */
export const BUDGET_BREACH = {
  runError: 'budget_exceeded',
  topic: 'cost_budget_breached',
  pauseReason: 'budget_breached',
} as const satisfies { runError: RunFailure; topic: Topic; pauseReason: PauseReason };

/** A limit that has less left than the calls need that it stopped. Amounts are in US dollars. */
export interface Stop {
  budgetId: string;
  /** Of a budget of a phase. */
  phaseSlug: string | null;
  limitUsd: string;
  spentUsd: string;
  heldUsd: string;
  freeUsd: string;
  /** What the next call of each step that waits for it may cost, together. */
  needsUsd: string;
  missingUsd: string;
}

/** What a step keeps of the call that a limit stopped. Amounts are in US dollars. */
export interface StepStop {
  run_id: string;
  needs_usd?: string;
  /** Of the wallet; left out where it is not charged. */
  charge_usd?: string;
}

export const RAISERS = ['members', 'admins', 'payment'] as const;

interface StopLimit extends Pick<Limit, 'kind' | 'of' | 'period' | 'name' | 'text'> {
  /** Who may change its project changes its budget, who may set a cap raises it, and a wallet is topped up. */
  raisedBy: (typeof RAISERS)[number];
}

export function limitOfStop({ budgetId, phaseSlug }: Stop): StopLimit {
  const { kind, of, period, name, text } = limitOf(budgetId);
  if (period !== null) return { kind, of, period, name, text, raisedBy: 'admins' };
  if (kind === 'wallet') return { kind, of, period, name, text, raisedBy: 'payment' };
  const isPhase = kind === 'phase';
  return {
    kind,
    of: isPhase ? phaseSlug : of,
    period,
    name: isPhase ? `phase.${phaseSlug}` : name,
    text: isPhase ? `the budget of the phase ${phaseSlug}` : 'the budget of the project',
    raisedBy: 'members',
  };
}

/** With this right caps are set, and so raised. */
export const mayRaiseCaps = (caller: { standing: Standing }): boolean => can(caller, 'admin.routes');

/** @returns the names of the limits, in a sentence */
export const namesOf = (stops: readonly Stop[]): string => stops.map((stop) => limitOfStop(stop).text).join(' and ');

const shortOf = (stop: Stop): string =>
  `${limitOfStop(stop).text} has ${stop.freeUsd} USD left of ${stop.limitUsd} and ${stop.needsUsd} is needed`;

/**
 * @param hasCaps the caller may raise caps
 * @returns why their raise would be refused, whatever the amount
 */
export function refusalOf(stops: readonly Stop[], hasCaps: boolean): Problem | undefined {
  if (stops.length === 0) return new Problem('nothing_to_raise', 'no limit stops it any more: resume it');
  const by = (raiser: StopLimit['raisedBy']) => stops.filter((stop) => limitOfStop(stop).raisedBy === raiser);
  const unpaid = by('payment');
  if (unpaid.length > 0) {
    return new Problem('insufficient_credit', `${unpaid.map(shortOf).join('; ')}: top it up, no answer raises it`);
  }
  const caps = by('admins');
  if (caps.length === 0 || hasCaps) return undefined;
  return new Problem('admin_required', `admin_required: ${caps.map(shortOf).join('; ')}; owners and admins raise it`);
}

/** @returns by how much each limit has to be raised at least, for all that it stopped to go on */
export const leastRaiseOf = (stops: readonly Stop[]): string =>
  stops.reduce((most, { missingUsd }) => (Number(missingUsd) > Number(most) ? missingUsd : most), '0');

/** @throws Problem bad_request, nothing_to_raise, insufficient_credit, admin_required */
export function requireRaise(stops: readonly Stop[], byUsd: string, hasCaps: boolean): void {
  const refusal = refusalOf(stops, hasCaps);
  if (refusal) throw refusal;
  const least = leastRaiseOf(stops);
  if (Number(byUsd) >= Number(least)) return;
  throw new Problem('bad_request', `raise_by_usd must be at least ${least}: ${stops.map(shortOf).join('; ')}`);
}
