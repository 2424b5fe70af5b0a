/** What is answered of a run that waits. */
import { z } from 'zod';
import { Timestamp } from '../../../platform/http/schemas.ts';
import { WAITS } from '../model.ts';

export const WaitsFor = z
  .object({
    what: z
      .enum(WAITS)
      .describe('`share_of_model_calls`: its workspace has its share of the model calls that a worker makes at once'),
    since: Timestamp,
  })
  .nullable()
  .describe('What a run in flight waits for, once it has waited for two seconds');
