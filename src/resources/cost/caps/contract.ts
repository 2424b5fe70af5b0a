/** The HTTP contract of caps on spending. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../../platform/http/endpoint.ts';
import { givenUsd, listReply, Timestamp, Usd } from '../../../platform/http/schemas.ts';
import { CAP_ID, CAP_PERIODS } from './model.ts';

const SpendingCap = z
  .object({
    id: z.string().describe('`workspace.month`, `agent.writer.day`, `api-key.12.month`'),
    scope: z.enum(['workspace', 'agent', 'api-key']),
    of: z.string().nullable().describe('Slug of the agent or id of the key; null for the workspace'),
    period: z.enum(CAP_PERIODS),
    limit_usd: Usd,
    spent_usd: Usd.describe('In this period. A call counts to the period in which its answer came'),
    reserved_usd: Usd.describe('What calls under way may cost at most'),
    burn: z.number().describe('Spent by limit'),
    alert_at: z.array(z.int()).describe('Percents of the limit: where so much is spent, it is told once'),
    since: Timestamp,
    until: Timestamp.describe('Then it begins anew'),
  })
  .meta({ id: 'SpendingCap' });

const CapPath = z.object({
  cap_id: z
    .string()
    .regex(CAP_ID, 'must be workspace, agent.<slug> or api-key.<id>, and .month or .day: agent.writer.month'),
});

const NewCap = z
  .object({
    limit_usd: givenUsd(z.number().min(0)),
    alert_at: z
      .array(z.int().min(1).max(100))
      .max(10)
      .optional()
      .describe(
        'Percents of the limit at which owners and destinations are told; without it 50, 80, 100, or what it had; [] for none',
      ),
  })
  .meta({ id: 'NewCap' });

export const listCaps = endpoint({
  id: 'cost.caps',
  path: '/v1/cost/caps',
  summary: 'The caps on spending by month and day, each with what is spent of it',
  reply: listReply(SpendingCap),
});

export const setCap = endpoint({
  id: 'cost.setCap',
  method: 'put',
  path: '/v1/cost/caps/{cap_id}',
  credential: 'admin',
  summary: 'Set, raise or lower what a workspace, an agent or an API key may spend in a calendar month or day',
  description:
    'Months and days are those of UTC. Before each model call its worst-case cost is held against every cap that concerns ' +
    'it, as against the budgets of its run and project; where one has too little left, the run fails with ' +
    '`budget_exceeded` before anything is spent, and a project pauses. A new cap begins with what the runs of the period ' +
    'have cost already. A cap of an API key counts the runs and projects that were asked for with it, and what they spawned. ' +
    'What is told of it goes to the owners by mail, to output destinations with `spending`, and into the log of events (`spending`).',
  params: CapPath,
  body: NewCap,
  reply: SpendingCap,
  problems: ['not_found'],
});

export const removeCap = endpoint({
  id: 'cost.removeCap',
  method: 'delete',
  path: '/v1/cost/caps/{cap_id}',
  credential: 'admin',
  summary: 'Take a cap on spending away',
  params: CapPath,
  reply: NO_CONTENT,
  problems: ['not_found'],
});
