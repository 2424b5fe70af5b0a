/** What a call of a model is held against, as people know it: budgets, caps and the wallet. Pure. */
import { capIdOf, capName, capOf, type CapPeriod } from '../caps/model.ts';

export const LIMIT_KINDS = ['project', 'phase', 'run', 'workspace', 'agent', 'api-key', 'wallet'] as const;
type LimitKind = (typeof LIMIT_KINDS)[number];

export interface Limit {
  kind: LimitKind;
  /** The id of the project, phase or run, the slug of the agent, the id of the key. */
  of: string | null;
  period: CapPeriod | null;
  /** `project`, `phase`, `run`, `wallet`; of a cap its id: `workspace.month`. */
  name: string;
  /** `the cap of agent writer a month` */
  text: string;
}

const OWN: Readonly<Record<string, LimitKind>> = { project: 'project', task: 'phase', run: 'run', wallet: 'wallet' };

/** @param budgetId the id of a row of `budgets` */
export function limitOf(budgetId: string): Limit {
  const capId = capIdOf(budgetId);
  if (capId !== undefined) {
    const { scope, of, period } = capOf(capId);
    return { kind: scope, of, period, name: capId, text: capName(capId) };
  }
  const [prefix = '', id = ''] = budgetId.split(':', 2);
  const kind = OWN[prefix] ?? 'run';
  if (kind === 'wallet') return { kind, of: null, period: null, name: kind, text: 'the wallet' };
  return { kind, of: id, period: null, name: kind, text: `the budget of ${prefix} ${id}` };
}
