/** Puts the parts of the client together. */
import { CONTROL_PLANE, connect, type ClientOptions } from './connection.ts';
import type { Client as Http } from './generated/client/index.ts';
import { followStream, type FollowOptions } from './live.ts';
import { createProjects, type Projects } from './projects.ts';
import { createRuns, type Runs } from './runs.ts';
import type { ServerSentEvent } from './sse.ts';

export interface LiveFilter extends FollowOptions {
  runId?: string;
  projectId?: string;
  kinds?: readonly string[];
}

export interface Client {
  runs: Runs;
  projects: Projects;
  /** For the functions of `agent-orchestration-client/api`, each of which is one endpoint. */
  http: Http;
  /** With a session: the event log of the workspace as it grows, for as long as it is wanted. `id` is the cursor. */
  live(filter?: LiveFilter): AsyncGenerator<ServerSentEvent>;
  /** Extensions that the service has switched on, such as `idempotency`. */
  extensions(signal?: AbortSignal): Promise<ReadonlySet<string>>;
}

/** @throws AosError without a key and a session, or without an address */
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  const { transport, request } = connection;
  return {
    runs: createRuns(connection),
    projects: createProjects(connection),
    http: connection.http,
    live: ({ runId, projectId, kinds, ...follow } = {}) =>
      followStream(
        transport,
        () => request(`${CONTROL_PLANE}/v1/live`, { run_id: runId, project_id: projectId, kind: kinds?.join(',') }),
        follow,
      ),
    extensions: (signal) => transport.extensions(signal),
  };
}
