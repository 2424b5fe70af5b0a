/** Declares the HTTP contract of what decided how long a project took, and of what a command would run and cost. */
import { z } from 'zod';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { Timestamp, Usd } from '../../../platform/http/schemas.ts';
import { ProjectPath } from '../contract.ts';
import { CASCADES, TASK_STATUSES } from '../model.ts';
import { BASES } from './model.ts';

const Ms = z.int().describe('Milliseconds');

const CriticalPath = z
  .object({
    project_id: z.string(),
    path: z.array(z.string()).describe('Slugs of the phases that decided how long it took, from the first to the last'),
    took_ms: Ms.nullable().describe('From the first start to the last end, or to now; null before the first start'),
    phases: z.array(
      z.object({
        phase_slug: z.string(),
        title: z.string(),
        status: z.enum(TASK_STATUSES),
        started_at: Timestamp.nullable().describe('Of its latest start'),
        completed_at: Timestamp.nullable(),
        is_critical: z.boolean(),
        took_ms: Ms.nullable().describe('Null where it has not begun'),
        slack_ms: Ms.nullable().describe('How much later it could have ended without the project ending later'),
        waited_ms: Ms.describe('Of it, time for which its gates waited for an answer'),
      }),
    ),
  })
  .meta({ id: 'CriticalPath' });

export const getCriticalPath = endpoint({
  id: 'projects.criticalPath',
  path: '/v1/projects/{project_id}/critical-path',
  summary: 'Which phases decide how long a project takes',
  description: 'By the latest start of each phase. A phase under way counts as ending now.',
  params: ProjectPath,
  reply: CriticalPath,
  problems: ['not_found'],
});

const Estimate = z
  .object({
    project_id: z.string(),
    phases: z
      .array(
        z.object({
          phase_slug: z.string(),
          title: z.string(),
          cost_usd: Usd.nullable().describe('Null where nothing is known'),
          low_usd: Usd.nullable(),
          high_usd: Usd.nullable(),
          basis: z
            .enum(BASES)
            .describe('Its last run here, completed projects of the same workflow, or recent runs of its agents'),
          samples: z.int(),
        }),
      )
      .describe('Those that will run'),
    marked_stale: z.array(z.string()).describe('Slugs of phases that will be out of date, and do not run'),
    cost_usd: Usd.nullable().describe('The sum of what is known; null where nothing is'),
    low_usd: Usd.nullable(),
    high_usd: Usd.nullable(),
    budget_left_usd: Usd.nullable().describe('Null where the project has no budget'),
  })
  .meta({ id: 'Estimate' });

const EstimateQuery = z
  .object({
    of: z.enum(['retrigger', 'revert', 'resume']).describe('The command that is thought of'),
    phase_slug: z.string().max(64).optional().describe('The phase of a retrigger or of a revert'),
    cascade: z.enum(CASCADES).default('lazy'),
  })
  .refine(({ of, phase_slug: slug }) => (of === 'resume') === (slug === undefined), {
    path: ['phase_slug'],
    message: 'belongs to a retrigger and a revert, and to them alone',
  });
export type EstimateQuery = z.output<typeof EstimateQuery>;

export const estimateCommand = endpoint({
  id: 'projects.estimate',
  path: '/v1/projects/{project_id}/estimate',
  summary: 'What a command would run, and about what that costs',
  description:
    'Changes nothing. Of a resume: every phase that has not ended, those under way as if they were begun anew, so ' +
    'that it is rather too much than too little.',
  params: ProjectPath,
  query: EstimateQuery,
  reply: Estimate,
  problems: ['not_found'],
});
