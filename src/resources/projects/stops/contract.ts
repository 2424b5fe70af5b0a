/** What the HTTP contract tells of a limit that stops a project. */
import { z } from 'zod';
import { Usd } from '../../../platform/http/schemas.ts';
import { CAP_PERIODS } from '../../cost/caps/model.ts';
import { LIMIT_KINDS } from '../../cost/limits/model.ts';
import { RAISERS } from './model.ts';

export const StoppingLimit = z
  .object({
    name: z.string().describe('`project`, `phase.text`, `wallet`, of a cap its id: `workspace.month`'),
    kind: z.enum(LIMIT_KINDS),
    of: z.string().nullable().describe('Id of the project or key, slug of the phase or agent'),
    period: z.enum(CAP_PERIODS).nullable().describe('Of a cap'),
    limit_usd: Usd,
    spent_usd: Usd.describe('Of a cap in this period'),
    held_usd: Usd.describe('What calls under way may cost at most'),
    free_usd: Usd.describe('What is left. Below what is needed, or it would not stop the project'),
    needs_usd: Usd.describe('What the next call of each step that it stopped may cost, together'),
    raised_by: z
      .enum(RAISERS)
      .describe('`members`: whoever works in the workspace; `admins`: who may set caps; `payment`: topped up'),
    may_raise: z.boolean().describe('Whether the caller may'),
  })
  .meta({ id: 'StoppingLimit' });
export type StoppingLimit = z.input<typeof StoppingLimit>;
