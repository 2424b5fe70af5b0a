/** What a caller can learn of spending. */
import { COST_WINDOWS, type CostWindow } from '../runs/model.ts';
import { daysBefore, forecastMonth } from './forecast.ts';
import type { CostGroup } from './model.ts';
import type { CostStore } from './store.ts';

export type CostService = ReturnType<typeof createCostService>;

/** A forecast rests on so many whole days at most. */
const DAYS = 28;

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
        saved_usd: total.saved_usd,
        run_count: total.run_count,
      },
    };
  },

  async forecast(customerId: string) {
    const [{ today, month, until, spent, first }, spentDays] = await Promise.all([
      store.monthSpend(customerId),
      store.dailySpend(customerId),
    ]);
    const usdOf = new Map(spentDays.map(({ day, usd }) => [day, usd]));
    const before = daysBefore(today, first, DAYS).map((day) => ({ day, usd: usdOf.get(day) ?? 0 }));
    const spentToday = usdOf.get(today) ?? 0;
    const { p50, p90 } = forecastMonth(before, { day: today, usd: spentToday }, Number(spent) - spentToday);
    return {
      month,
      spent_usd: spent,
      p50_usd: p50 === null ? null : p50.toFixed(8),
      p90_usd: p90 === null ? null : p90.toFixed(8),
      based_on: {
        days: before.length,
        days_with_spend: before.filter(({ usd }) => usd > 0).length,
        unpriced_runs: spentDays.reduce((sum, { unpriced }) => sum + unpriced, 0),
      },
      until,
    };
  },
});
