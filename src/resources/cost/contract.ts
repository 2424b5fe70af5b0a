/** The HTTP contract of spending. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { SavedUsd, Timestamp, Usd } from '../../platform/http/schemas.ts';
import { COST_WINDOWS, type CostWindow } from '../runs/model.ts';
import { COST_GROUPS } from './model.ts';

const CostOfKey = z
  .object({
    key: z
      .string()
      .nullable()
      .describe('Agent slug, model id, project id or UTC day; null for runs that have none of it'),
    cost_usd: Usd,
    saved_usd: SavedUsd,
    run_count: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    unpriced_runs: z.int().describe('Runs with a call of no known price: their cost is a lower bound'),
  })
  .meta({ id: 'CostOfKey' });

export const getCostRollup = endpoint({
  id: 'cost.rollup',
  path: '/v1/cost/rollup',
  summary: 'What the runs of a window cost, by agent, model, project or day',
  description:
    'A run counts to the window in which it was accepted. The runs of project steps, and those that they spawned, ' +
    'count to their project. Dearest first; days in their order.',
  query: z.object({
    window: z.enum(Object.keys(COST_WINDOWS) as CostWindow[]).default('7d'),
    group_by: z.enum(COST_GROUPS).default('agent'),
  }),
  reply: z.object({
    data: z.array(CostOfKey),
    meta: z.object({
      window: z.string(),
      group_by: z.string(),
      since: Timestamp,
      total_cost_usd: Usd,
      saved_usd: SavedUsd,
      run_count: z.int(),
    }),
  }),
});

export const forecastCost = endpoint({
  id: 'cost.forecast',
  path: '/v1/cost/forecast',
  summary: 'What this calendar month may come to, from what the weekdays of the last four weeks cost',
  description:
    'Months and days are those of UTC. Each day that is left is taken to cost what one of the same weekdays did, many times over: half of ' +
    'these months come to `p50_usd` at most, nine in ten to `p90_usd`.',
  reply: z.object({
    month: z.string().describe('Such as `2026-11`'),
    spent_usd: Usd.describe('In this month until now'),
    p50_usd: Usd.nullable().describe('Null where `based_on` has fewer than seven days'),
    p90_usd: Usd.nullable(),
    based_on: z.object({
      days: z.int().describe('Whole days since the first run, 28 at most'),
      days_with_spend: z.int(),
      unpriced_runs: z
        .int()
        .describe('Of these days and this month: their cost is a lower bound, and so is the forecast'),
    }),
    until: Timestamp.describe('The end of the month'),
  }),
});
