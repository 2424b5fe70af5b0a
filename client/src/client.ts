/** Puts the parts of the client together. */
import { connect, type ClientOptions } from './connection.ts';
import type { Client as Http } from './generated/client/index.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { followLive, type LiveFilter, type LiveItem } from './live.ts';
import { createProjects, type Projects } from './projects.ts';
import { createRuns, type Runs } from './runs.ts';

export interface Client {
  runs: Runs;
  projects: Projects;
  inbox: Inbox;
  /** Serves the functions of `agent-orchestration-client/api`, each of which is one endpoint. */
  http: Http;
  /**
   * Follows the event log of the workspace, for which it needs a session. The stream begins now, or after a cursor (`0`
   * means with the oldest event that is kept); a lost connection is made anew after the last event that was seen.
   * @throws NoStreamError, ServiceError cursor_unknown
   */
  live(filter?: LiveFilter): AsyncGenerator<LiveItem>;
  /** @returns the names of extensions that the service has switched on, such as `idempotency` */
  extensions(signal?: AbortSignal): Promise<ReadonlySet<string>>;
}

/** @throws AosError where there is neither a key nor a session, or no address */
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  return {
    runs: createRuns(connection),
    projects: createProjects(connection),
    inbox: createInbox(connection),
    http: connection.http,
    live: (filter = {}) => followLive(connection, filter),
    extensions: (signal) => connection.transport.extensions(signal),
  };
}
