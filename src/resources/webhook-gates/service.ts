/** Lists webhook gates for callers. They are answered by signal, or by an agent's tool. */
import type { Caller } from '../../platform/http/endpoint.ts';
import type { GateQuery } from './contract.ts';
import type { WebhookGateStore } from './store.ts';

export type WebhookGateService = ReturnType<typeof createWebhookGateService>;

export const createWebhookGateService = ({ store }: { store: WebhookGateStore }) => ({
  async list({ customerId }: Caller, query: GateQuery) {
    const data = await store.listGates(customerId, query);
    const byStatus = await store.countByStatus(customerId);
    const matching = byStatus.filter(({ status }) => query.status === undefined || status === query.status);
    const total = matching.reduce((sum, { count }) => sum + count, 0);
    return { data, meta: { total, by_status: byStatus } };
  },
});
