/** What the contracts of several resources say of references. */
import { z } from 'zod';
import { WARNING_CODES } from './model.ts';

const Warning = z
  .object({
    path: z.string().describe('The field, such as `allowed_tools[0]`'),
    code: z.enum(WARNING_CODES),
    message: z.string(),
  })
  .meta({ id: 'Warning' });

/** Beside the fields of a reply to a creation or an update. */
export const warned = {
  warnings: z.array(Warning).optional().describe('It was saved, and this does not work as it is. Left out if all does'),
};

export const DeleteQuery = z.object({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe('Also if something uses it'),
});
