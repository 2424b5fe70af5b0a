/** The HTTP contract of spending. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Timestamp, Usd } from '../../platform/http/schemas.ts';
import { COST_WINDOWS, type CostWindow } from '../runs/model.ts';
import { COST_GROUPS } from './model.ts';

const CostOfKey = z
  .object({
    key: z
      .string()
      .nullable()
      .describe('Agent slug, model id, project id or UTC day; null for runs that have none of it'),
    cost_usd: Usd,
    run_count: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    unpriced_runs: z.int().describe('Runs with a call of no known price: their cost is a lower bound'),
  })
  .meta({ id: 'CostOfKey' });

export const getCostRollup = endpoint({
  id: 'cost.rollup',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/cost/rollup',
  credential: 'session',
  summary: 'What the runs of a window cost, by agent, model, project or day',
  description:
    'A run counts to the window in which it was accepted. The runs of project steps, and those that they spawned, ' +
    'count to their project. Dearest first; days in their order.',
  query: z.object({
    window: z.enum(Object.keys(COST_WINDOWS) as CostWindow[]).default('7d'),
    group_by: z.enum(COST_GROUPS).default('agent'),
  }),
  status: 200,
  reply: z.object({
    data: z.array(CostOfKey),
    meta: z.object({
      window: z.string(),
      group_by: z.string(),
      since: Timestamp,
      total_cost_usd: Usd,
      run_count: z.int(),
    }),
  }),
});
