/** What can be done with feature flags. Only the operator sees the exceptions of workspaces other than the caller's. */
import { Problem } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import type { Caller, Concern } from '../../platform/http/endpoint.ts';
import type { FlagChange } from './contract.ts';
import { isOnFor } from './model.ts';
import type { FlagRow, FlagStore } from './store.ts';

export type FlagService = ReturnType<typeof createFlagService>;

export const createFlagService = ({ store }: { store: FlagStore }) => ({
  async list(caller: Caller) {
    const rows = await store.list();
    return { data: rows.map((row) => wire(row, caller)), meta: { total: rows.length } };
  },

  /** @throws Problem not_found for an exception that names no existing workspace */
  async put(caller: Caller, name: string, change: FlagChange) {
    const named = Object.keys(change.workspaces ?? {});
    const [unknown] = await store.unknownWorkspaces(named);
    if (unknown !== undefined) throw new Problem('not_found', `unknown workspace: ${unknown}`);
    return wire(await store.put(name, { ...change, updatedBy: caller.actor }), caller);
  },

  /**
   * @returns workspaces whose exception comes, goes or changes; a switch for everybody concerns nobody in particular
   */
  async concerned(name: string, { workspaces: after }: Pick<FlagChange, 'workspaces'>): Promise<Concern[]> {
    if (after === undefined) return [];
    const before = (await store.find(name))?.workspaces ?? {};
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((customerId) => before[customerId] !== after[customerId])
      .map((customerId) => ({ customerId, change: { exception: after[customerId] ?? null } }));
  },

  /** @throws Problem not_found */
  async delete(name: string): Promise<void> {
    if (!(await store.delete(name))) throw new Problem('not_found');
  },
});

const wire = (row: FlagRow, caller: Caller) => ({
  name: row.name,
  description: row.description,
  enabled: isOnFor(row, caller.customerId),
  updated_at: row.updatedAt,
  ...(can(caller, 'deployment.inspect') && {
    default_enabled: row.enabled,
    workspaces: row.workspaces,
    updated_by: row.updatedBy,
  }),
});
