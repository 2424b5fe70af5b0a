/** What a caller can learn of spending. */
import { COST_WINDOWS, type CostWindow } from '../runs/model.ts';
import type { CostGroup } from './model.ts';
import type { CostStore } from './store.ts';

export type CostService = ReturnType<typeof createCostService>;

export const createCostService = ({ store }: { store: CostStore }) => ({
  async rollup(customerId: string, window: CostWindow, group: CostGroup) {
    const { total, rows } = await store.rollup(customerId, COST_WINDOWS[window], group);
    return {
      data: rows,
      meta: {
        window,
        group_by: group,
        since: total.since,
        total_cost_usd: total.cost_usd,
        run_count: total.run_count,
      },
    };
  },
});
