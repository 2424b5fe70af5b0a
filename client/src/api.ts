/**
 * Exports every endpoint of both surfaces as one typed function, with the types of what it takes and answers. Bundlers
 * leave out those that are not imported.
 *
 *     import { runsList } from 'agent-orchestration-client/api';
 *     const page = await runsList({ client: aos.http, query: { limit: 20 } });
 */
export * from './generated/sdk.gen.ts';
export type * from './generated/types.gen.ts';
