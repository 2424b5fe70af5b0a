/**
 * Lets documented endpoints give streams too, where `EXTENSIONS` has `sse`. A client asks for one by
 * `Accept: text/event-stream`, at the same address and with the same credential. Without the extension this file changes
 * no route, so that neither an answer nor a document differs from the specification.
 */
import { z } from 'zod';
import {
  streamOf,
  type EventStream,
  type Endpoint,
  type EndpointRequest,
  type Route,
} from '../../platform/http/endpoint.ts';
import { listProjectEvents } from '../events/contract.ts';
import type { LogRow } from '../event-log/store/read.ts';
import { getProjectStatus } from '../projects/contract.ts';
import { isTerminal as isProjectTerminal } from '../projects/model.ts';
import { listEventsOfProject } from '../projects/reads/contract.ts';
import type { ProjectService } from '../projects/service.ts';
import { getRun, listRunEvents } from '../runs/contract.ts';
import { isTerminal, TERMINAL_EVENT } from '../runs/model.ts';
import type { RunService } from '../runs/service.ts';
import { LiveControl, LiveEvent, TextChoice, type LiveQuery } from './contract.ts';
import type { LiveService } from './service.ts';

interface Services {
  live: LiveService;
  runs: Pick<RunService, 'detail' | 'events'>;
  projects: Pick<ProjectService, 'status' | 'get'>;
}

type Follow = (services: Services, request: EndpointRequest<never, never>) => Promise<EventStream>;
interface Streaming {
  events: z.ZodType;
  follow: Follow;
}

/** What a stream at a documented address takes beside the query of the endpoint. */
const StreamQuery = z.object({
  text: TextChoice.describe('`false`: a stream without texts that are being written, so that nothing is done for them'),
});
type Asked<Params = unknown> = EndpointRequest<Params, Pick<LiveQuery, 'text'>>;

const EVENTS = z.union([LiveEvent, LiveControl]);
const TERMINAL_EVENTS: readonly string[] = Object.values(TERMINAL_EVENT);
const endsRun = ({ kind, topic }: LogRow): boolean => kind === 'run' && TERMINAL_EVENTS.includes(topic);

/** @returns the cursor of the last event that the client saw, or that of the beginning: a timeline is told whole */
const resumed = ({ header }: EndpointRequest): string => header('last-event-id') ?? '0';

const STREAMS: ReadonlyMap<string, Streaming> = new Map<string, Streaming>([
  [
    listRunEvents.id,
    {
      events: EVENTS,
      async follow({ live, runs }, request: Asked<{ run_id: string }>) {
        const { caller, params, query } = request;
        await runs.events(caller, params.run_id, 1);
        return live.follow(
          caller,
          { run_id: params.run_id, kind: ['run'], after: resumed(request), text: query.text },
          endsRun,
        );
      },
    },
  ],
  [
    listEventsOfProject.id,
    {
      events: EVENTS,
      async follow({ live, projects }, request: Asked<{ project_id: string }>) {
        const { caller, params, query } = request;
        await projects.get(caller, params.project_id);
        return live.follow(caller, {
          project_id: params.project_id,
          kind: ['project'],
          after: resumed(request),
          text: query.text,
        });
      },
    },
  ],
  [
    listProjectEvents.id,
    {
      events: EVENTS,
      follow: ({ live }, { caller, header, query }: Asked) =>
        live.follow(caller, { kind: ['project'], after: header('last-event-id'), text: query.text }),
    },
  ],
  [
    getRun.id,
    {
      events: z.union([getRun.reply, LiveControl]),
      follow: ({ live, runs }, { caller, params, query }: Asked<{ run_id: string }>) =>
        live.followState(
          caller,
          { runId: params.run_id, text: query.text },
          async () => getRun.reply.parse(await runs.detail(caller, params.run_id)),
          ({ status }) => isTerminal(status),
        ),
    },
  ],
  [
    getProjectStatus.id,
    {
      events: z.union([getProjectStatus.reply, LiveControl]),
      follow: ({ live, projects }, { caller, params, query }: Asked<{ project_id: string }>) =>
        live.followState(
          caller,
          { projectId: params.project_id, text: query.text },
          async () => getProjectStatus.reply.parse(await projects.status(caller, params.project_id)),
          ({ status }) => isProjectTerminal(status),
        ),
    },
  ],
]);

export const alsoAsStreams = (services: Services, routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => (services.live?.isOnDocumented ? withStream(services, route) : withoutStream(route)));

/** A client asks for a stream without knowing whether there are any, so that what it says about one is no mistake. */
function withoutStream(route: Route): Route {
  if (!STREAMS.has(route.endpoint.id)) return route;
  const ignored = [...(route.endpoint.ignored ?? []), ...Object.keys(StreamQuery.shape)];
  return { ...route, endpoint: { ...route.endpoint, ignored } };
}

function withStream(services: Services, route: Route): Route {
  const streaming = STREAMS.get(route.endpoint.id);
  if (!streaming) return route;
  const problems = [...(route.endpoint.problems ?? []), 'cursor_unknown', 'too_many_streams'] as const;
  const given = route.endpoint.query;
  const query = given instanceof z.ZodObject ? given.extend(StreamQuery.shape) : StreamQuery;
  const endpoint: Endpoint = { ...route.endpoint, query, stream: streamOf(streaming.events), problems };
  return { ...route, endpoint, stream: (request) => streaming.follow(services, request as never) };
}
