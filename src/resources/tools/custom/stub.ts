/** Answers the same whatever it is asked. With it a pipeline can be tried before what it will call exists. */
import { z } from 'zod';
import { customKind } from './kind.ts';

export const stub = customKind({
  defaults: { shape: 'api', sensitive: false, effect: 'read' },
  body: z.strictObject({
    result: z.unknown().refine((result) => result !== undefined, 'is required; any JSON value, which is the answer'),
  }),
  execute: async ({ result }) => result,
});
