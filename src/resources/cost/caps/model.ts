import { apiKeyIdIn } from '../../../platform/core/actor.ts';

/**
 * A cap bounds what a workspace, an agent or an API key spends in a calendar month or day (UTC). It is a budget like that
 * of a run, whose spending begins anew with each period.
 */
export const CAP_PERIODS = ['month', 'day'] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

/** `workspace.month`, `agent.writer.day`, `api-key.12.month` */
export const CAP_ID = /^(workspace|agent\.[a-z0-9][a-z0-9_-]{0,63}|api-key\.\d{1,15})\.(month|day)$/;

type CapScope = 'workspace' | 'agent' | 'api-key';
export interface Cap {
  scope: CapScope;
  /** The slug of the agent, the id of the key; null of the workspace. */
  of: string | null;
  period: CapPeriod;
}

/** @param id one that `CAP_ID` matches */
export function capOf(id: string): Cap {
  const parts = id.split('.');
  return {
    scope: parts[0] as CapScope,
    of: parts.length === 3 ? (parts[1] ?? null) : null,
    period: parts.at(-1) as CapPeriod,
  };
}

const PREFIX = 'cap:';
/** The id of the cap's row in `budgets`. */
export const capBudgetId = (customerId: string, capId: string): string => `${PREFIX}${customerId}:${capId}`;
/** @returns undefined where the budget is no cap */
export const capIdOf = (budgetId: string): string | undefined =>
  budgetId.startsWith(PREFIX) ? budgetId.slice(budgetId.lastIndexOf(':') + 1) : undefined;

const bothPeriods = (customerId: string, whose: string): string[] =>
  CAP_PERIODS.map((period) => capBudgetId(customerId, `${whose}.${period}`));

/**
 * @returns the caps that a run of this caller's would count against, for its `budget_ids`: they stand there whether they are
 * set or not, and what the run spawns inherits them
 */
export function capsOfCaller(customerId: string, actor: string): string[] {
  const keyId = apiKeyIdIn(actor);
  return keyId === undefined ? [] : bothPeriods(customerId, `api-key.${keyId}`);
}

interface Spender {
  customerId: string;
  /** Known from the first turn on. */
  agent: string | null;
  budgetIds: readonly string[];
}

/**
 * @returns the budgets that the calls of a run count against: its own, and the caps that concern it, whether they are set
 * or not; one that is set while a call is under way counts it too
 */
export function budgetsOf({ customerId, agent, budgetIds }: Spender): string[] {
  const caps = [
    ...bothPeriods(customerId, 'workspace'),
    ...(agent === null ? [] : bothPeriods(customerId, `agent.${agent}`)),
  ];
  return [...new Set([...budgetIds, ...caps])];
}

/** `the cap of agent writer a month` */
export function capName(capId: string): string {
  const { scope, of, period } = capOf(capId);
  return `the cap of the ${scope === 'api-key' ? 'API key' : scope}${of === null ? '' : ` ${of}`} a ${period}`;
}
