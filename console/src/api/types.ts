/** Types of the service's answers, from its own description. They are types alone, so none of this is in the bundle. */
export type * from '../../../client/src/generated/types.gen.ts';
