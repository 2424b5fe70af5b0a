/** What a caller can do with caps on spending. */
import { Problem } from '../../../platform/core/problem.ts';
import { present } from '../../../platform/core/present.ts';
import { ALERT_AT } from '../notices/model.ts';
import { capIdOf, capOf } from './model.ts';
import type { CapRow, CapStore } from './store.ts';

export type CapService = ReturnType<typeof createCapService>;

interface CapDependencies {
  store: CapStore;
  agentExists: (customerId: string, slug: string) => Promise<boolean>;
}

export const createCapService = ({ store, agentExists }: CapDependencies) => ({
  async list(customerId: string) {
    const rows = await store.list(customerId);
    return { data: rows.map(wireCap), meta: { total: rows.length } };
  },

  /** @throws Problem not_found where there is no such agent or key */
  async set(customerId: string, capId: string, limitUsd: string, alertAt?: readonly number[]) {
    const { scope, of } = capOf(capId);
    const isThere =
      of === null || (await (scope === 'agent' ? agentExists(customerId, of) : store.hasKey(customerId, of)));
    if (!isThere) {
      const what =
        scope === 'agent'
          ? `agent ${of}; \`aos agents\` lists those there are`
          : `API key ${of}; \`aos keys\` lists those there are`;
      throw new Problem('not_found', `not_found: there is no ${what}`);
    }
    return wireCap(await store.set(customerId, capId, limitUsd, alertAt));
  },

  /** @throws Problem not_found */
  async remove(customerId: string, capId: string): Promise<void> {
    if (!(await store.remove(customerId, capId))) throw new Problem('not_found', `not_found: ${capId} has no cap`);
  },
});

function wireCap({ id: budgetId, limitUsd, spentUsd, reservedUsd, alertAt, since, until }: CapRow) {
  const id = present(capIdOf(budgetId));
  const { scope, of, period } = capOf(id);
  return {
    id,
    scope,
    of,
    period,
    limit_usd: limitUsd,
    spent_usd: spentUsd,
    reserved_usd: reservedUsd,
    burn: Number(limitUsd) === 0 ? 1 : Number(spentUsd) / Number(limitUsd),
    alert_at: alertAt ?? [...ALERT_AT],
    since,
    until,
  };
}
