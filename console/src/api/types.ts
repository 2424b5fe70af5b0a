/** What the service answers, as its own description has it. Types alone: nothing of this is in the bundle. */
export type * from '../../../client/src/generated/types.gen.ts';
