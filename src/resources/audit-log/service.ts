/** The audit log. Admins read it; the HTTP layer writes it for every endpoint that changes configuration. */
import type { Log } from '../../platform/core/log.ts';
import type { AuditTrail } from '../../platform/http/audit.ts';
import { customerIdOf } from '../../platform/core/ids.ts';
import type { Caller, Concern } from '../../platform/http/endpoint.ts';
import type { AuditQuery } from './contract.ts';
import { actorElsewhere, madeIn, summaryOf, targetOf } from './model.ts';
import { refOf, type AuditStore } from './store.ts';

export type AuditService = ReturnType<typeof createAuditService>;

export const createAuditService = ({ store, log }: { store: AuditStore; log: Log }) => {
  const trail: AuditTrail = {
    async open(action, { caller: { customerId, actor }, params, query, body }, concerned = []) {
      const target = targetOf(params, query);
      const others = await store.resolve(concerned.filter((one) => !one.isNew));
      const told = concerned.flatMap((one) => {
        const other = one.isNew ? newCustomer(one) : others.get(refOf(one));
        return other === undefined || other === customerId ? [] : [{ other, change: one.change ?? body }];
      });
      return store.insert([
        { customerId, actor, action, target, change: summaryOf(body) },
        ...told.map(({ other, change }) => ({
          customerId: other,
          actor: actorElsewhere(actor),
          action,
          target,
          change: summaryOf(change),
        })),
      ]);
    },
    // A log that cannot be written undoes nothing that happened: its row then says that the outcome is unknown.
    close: (rows, status, reply) =>
      store
        .complete(rows, status, madeIn(reply))
        .catch((err: unknown) =>
          log.error({ err, audit_ids: rows }, 'the outcome of a change could not be recorded in the audit log'),
        ),
    withdraw: (rows) =>
      store
        .delete(rows)
        .catch((err: unknown) =>
          log.error({ err, audit_ids: rows }, 'an audit entry of a request that changed nothing could not be removed'),
        ),
  };

  return {
    trail,

    async list({ customerId }: Caller, query: AuditQuery) {
      const { rows, total } = await store.list(customerId, query);
      return {
        data: rows.map(({ id, createdAt: at, actor, action, target, change, status }) => ({
          id,
          at,
          actor,
          action,
          target,
          change,
          status,
        })),
        meta: { total, limit: query.limit, offset: query.offset },
      };
    },
  };
};

const newCustomer = (one: Concern): string => ('customerId' in one ? one.customerId : customerIdOf(one.workspaceId));
