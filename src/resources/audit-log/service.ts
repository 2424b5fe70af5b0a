/** The audit log: read by admins, written by the HTTP layer for every endpoint that changes configuration. */
import type { Log } from '../../platform/core/log.ts';
import type { AuditTrail } from '../../platform/http/audit.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { AuditQuery } from './contract.ts';
import { madeIn, summaryOf, targetOf } from './model.ts';
import type { AuditStore } from './store.ts';

export type AuditService = ReturnType<typeof createAuditService>;

export const createAuditService = ({ store, log }: { store: AuditStore; log: Log }) => {
  const trail: AuditTrail = {
    open: (action, { caller: { customerId, actor }, params, query, body }) =>
      store.insert({ customerId, actor, action, target: targetOf(params, query), change: summaryOf(body) }),
    // What happened is not undone by a log that cannot be written: its row then says that the outcome is unknown.
    close: (row, status, reply) =>
      store
        .complete(row, status, madeIn(reply))
        .catch((err: unknown) => log.error({ err, audit_id: row }, 'an outcome is missing in the audit log')),
    withdraw: (row) =>
      store
        .delete(row)
        .catch((err: unknown) => log.error({ err, audit_id: row }, 'a mere question stays in the audit log')),
  };

  return {
    trail,

    async list({ customerId }: Caller, query: AuditQuery) {
      const { rows, total } = await store.list(customerId, query);
      return {
        data: rows.map(({ id, createdAt: at, actor, action, target, change, status }) => ({
          ...{ id, at, actor, action, target, change, status },
        })),
        meta: { total, limit: query.limit, offset: query.offset },
      };
    },
  };
};
