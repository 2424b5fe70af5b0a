/** Starts projects, follows them, answers their gates, and waits until they are completed. */
import type { Connection } from './connection.ts';
import { ProjectAbandonedError, ProjectPausedError } from './errors.ts';
import {
  projectsArtifacts,
  projectsCreate,
  projectsEvents,
  projectsGet,
  projectsResolveGate,
  projectsResume,
  projectsStart,
  projectsStatus,
  projectsSubtasks,
  projectsTasks,
} from './generated/sdk.gen.ts';
import type { Artifact, ProjectEvent, ProjectStatus, Subtask, Task } from './generated/types.gen.ts';
import type { TextPiece } from './live.ts';
import { callOf, type CallOptions } from './runs.ts';
import { isOver, type ProjectState } from './states.ts';
import { followStatus } from './status.ts';
import { followTimeline } from './timeline.ts';
import { createPace, eachWithin, within, type EventOptions, type WaitOptions } from './waiting.ts';

export interface ProjectStart {
  /** The slug of a workflow. */
  workflow: string;
  /** An active version. Where it is left out, the latest one is taken. */
  version?: number;
  brief: string;
  /** Where it is left out, the first line of the brief is taken. */
  title?: string;
  /** The parameters that the workflow's schema asks for. */
  params?: Record<string, unknown>;
  /** The most that the project may spend, in US dollars, as a decimal. */
  budgetUsd?: string;
}

/**
 * What happens in a project. With a session it is each row of the project's feed, with an API key each change of its
 * status. Texts that the models of its steps write come between them, where they are asked for.
 */
export type ProjectUpdate =
  | { kind: 'event'; event: ProjectEvent }
  | { kind: 'status'; project: ProjectState }
  | { kind: 'text'; piece: TextPiece };

export interface CompletionOptions extends WaitOptions {
  /**
   * A paused project goes on only when somebody resumes it. `throw`, which is the default, reports the pause; `wait`
   * keeps waiting.
   */
  onPause?: 'throw' | 'wait';
}

export interface Gate {
  /** The id of the step that waits. */
  id: string;
  projectId: string;
  /** The place of the step, as `phase/step`. */
  place: string;
  kind: Subtask['gate_kind'];
  /** The question to whoever decides. */
  prompt: string | undefined;
  since: string | null;
  /** @throws ServiceError gate_not_waiting where somebody else answered first */
  approve(options?: GateAnswer): Promise<void>;
  reject(options?: GateAnswer): Promise<void>;
}

export interface GateAnswer extends CallOptions {
  comment?: string;
}

export interface ProjectHandle {
  id: string;
  get(options?: { signal?: AbortSignal }): Promise<ProjectState>;
  /** Yields what happens, from the beginning, until the project is completed or abandoned. */
  events(options?: EventOptions): AsyncGenerator<ProjectUpdate>;
  /**
   * Waits until the project is completed.
   * @throws ProjectPausedError, ProjectAbandonedError, WaitTimeoutError
   */
  completed(options?: CompletionOptions): Promise<ProjectState>;
  /**
   * Needs a session.
   * @returns the current version of each phase's artifact
   */
  artifacts(options?: { signal?: AbortSignal }): Promise<Artifact[]>;
  /**
   * Needs a session.
   * @returns the gates that wait for an answer now
   */
  gates(options?: { signal?: AbortSignal }): Promise<Gate[]>;
  /** Needs a session. Lets the project go on after a pause. */
  resume(options?: CallOptions): Promise<void>;
}

const MAX_EVENTS = 1_000;
const PAGE = 200;
/** The end of an abandoned project is told by the steps that it skips, because it has no event of its own. */
const LAST_TOPICS = new Set<ProjectEvent['topic']>(['project_completed', 'task_skipped']);
const MAX_TITLE_LENGTH = 200;

export interface Projects {
  /**
   * Starts a project. It answers as soon as the project is planned and recorded.
   * @throws ServiceError, ConnectionError
   */
  start(project: ProjectStart, options?: CallOptions): Promise<ProjectHandle>;
  /** Gives the handle of a project that was started before, without asking the service. */
  open(projectId: string): ProjectHandle;
}

export function createProjects(connection: Connection): Projects {
  const { http: client, canUseSession } = connection;
  async function state(projectId: string, signal?: AbortSignal): Promise<ProjectState> {
    const call = { client, path: { project_id: projectId }, ...(signal && { signal }) };
    if (!canUseSession) return asKeyTold(await projectsStatus(call));
    const { id, title, workflow_slug, workflow_version, status, pause_reason, ...project } = await projectsGet(call);
    const { cost_total_usd, is_priced, started_at, completed_at } = project;
    return {
      project_id: id,
      title,
      workflow_slug,
      workflow_version,
      status,
      pause_reason,
      cost_total_usd,
      is_priced,
      started_at,
      completed_at,
    };
  }

  const statusOf = (projectId: string, { signal, text = false }: Pick<EventOptions, 'signal' | 'text'>) =>
    followStatus<ProjectState>(
      connection,
      {
        // With a session the feed tells more than the stream of states, so that stream is not used.
        path: canUseSession ? undefined : `/v1/projects/${encodeURIComponent(projectId)}`,
        stateOf: asKeyTold,
        read: (ends) => state(projectId, ends),
        isOver,
        text,
      },
      signal,
    );

  async function* statuses(projectId: string, options: EventOptions): AsyncGenerator<ProjectUpdate> {
    for await (const update of statusOf(projectId, options)) {
      if (update.kind === 'status') yield { kind: 'status', project: update.state };
      else yield update;
    }
  }

  const feed = async (projectId: string, limit: number, signal?: AbortSignal): Promise<ProjectEvent[]> =>
    (
      await projectsEvents({ client, path: { project_id: projectId }, query: { limit }, ...(signal && { signal }) })
    ).data.reverse();

  async function* pollFeed(projectId: string, after: number, signal?: AbortSignal): AsyncGenerator<ProjectEvent> {
    const pace = createPace(signal);
    for (let seen = after; ; await pace.next()) {
      // The state is read first, so that a feed which is read after an end shows that end.
      const ended = isOver(await state(projectId, signal));
      let events = await feed(projectId, seen === 0 ? MAX_EVENTS : PAGE, signal);
      if (events.length === PAGE && events[0]!.id > seen) events = await feed(projectId, MAX_EVENTS, signal);
      const fresh = events.filter(({ id }) => id > seen);
      yield* fresh;
      if (ended) return;
      if (fresh.length > 0) pace.reset();
      seen = events.at(-1)?.id ?? seen;
    }
  }

  const followEvents = (projectId: string, options: EventOptions): AsyncGenerator<ProjectUpdate> =>
    followTimeline<ProjectEvent>(
      connection,
      {
        filter: { projectId, kinds: ['project'] },
        rowOf: (item) => (item.kind === 'project' ? item.event : undefined),
        async list(ends) {
          // The state is read first, so that a feed which is read after an end shows that end.
          const ended = isOver(await state(projectId, ends));
          const listed = await feed(projectId, MAX_EVENTS, ends);
          return { rows: listed, isAll: listed.length < MAX_EVENTS, isOver: ended };
        },
        mayBeLast: ({ topic }) => LAST_TOPICS.has(topic),
        poll: (seen, ends) => pollFeed(projectId, seen, ends),
      },
      { signal: options.signal, text: options.text },
    );

  async function waitingGates(projectId: string, signal?: AbortSignal): Promise<Gate[]> {
    const call = { client, ...(signal && { signal }) };
    const tasks = (await projectsTasks({ ...call, path: { project_id: projectId } })).data;
    const blocked = tasks.filter(({ status }) => status === 'blocked');
    const steps = await Promise.all(
      blocked.map(async (task) => {
        const path = { project_id: projectId, task_id: task.id };
        return (await projectsSubtasks({ ...call, path })).data.map((step) => ({ task, step }));
      }),
    );
    return steps
      .flat()
      .filter(({ step }) => step.kind === 'gate' && step.status === 'blocked')
      .map(({ task, step }) => gateOf(projectId, task, step));
  }

  const gateOf = (projectId: string, task: Task, step: Subtask): Gate => {
    const answer = async (decision: 'approved' | 'rejected', { comment, ...options }: GateAnswer = {}) => {
      const path = { project_id: projectId, subtask_id: step.id };
      await projectsResolveGate({ client, path, body: { decision, comment: comment ?? null }, ...callOf(options) });
    };
    return {
      id: step.id,
      projectId,
      place: `${task.phase_slug}/${step.step_slug}`,
      kind: step.gate_kind,
      prompt: typeof step.gate_config?.prompt === 'string' ? step.gate_config.prompt : undefined,
      since: step.started_at,
      approve: (options) => answer('approved', options),
      reject: (options) => answer('rejected', options),
    };
  };

  const handle = (id: string): ProjectHandle => ({
    id,
    get: ({ signal } = {}) => state(id, signal),
    events: (options = {}) =>
      eachWithin<ProjectUpdate>(options, `project ${id}`, (signal) =>
        (canUseSession ? followEvents : statuses)(id, { ...options, signal }),
      ),
    completed: ({ onPause = 'throw', ...options } = {}) =>
      within(options, `project ${id}`, async (signal) => {
        for await (const update of statusOf(id, { signal })) {
          if (update.kind !== 'status') continue;
          const project = update.state;
          if (project.status === 'completed') return project;
          if (project.status === 'abandoned') throw new ProjectAbandonedError(id);
          if (project.status === 'paused' && onPause === 'throw')
            throw new ProjectPausedError(id, project.pause_reason);
        }
        throw new Error('unreachable: a project is followed until it is over');
      }),
    artifacts: async ({ signal } = {}) =>
      (await projectsArtifacts({ client, path: { project_id: id }, ...(signal && { signal }) })).data,
    gates: ({ signal } = {}) => waitingGates(id, signal),
    async resume(options = {}) {
      await projectsResume({ client, path: { project_id: id }, ...callOf(options) });
    },
  });

  return {
    async start(project, options = {}) {
      const { workflow, version, brief, title = titleOf(brief), params, budgetUsd } = project;
      const body = {
        workflow_slug: workflow,
        brief,
        title,
        ...(version !== undefined && { workflow_version: version }),
        ...(params !== undefined && { params }),
        ...(budgetUsd !== undefined && { cost_budget_usd: budgetUsd }),
      };
      const call = { client, body, ...callOf(options) };
      const id = canUseSession ? (await projectsCreate(call)).id : (await projectsStart(call)).project_id;
      return handle(id);
    },
    open: handle,
  };
}

const asKeyTold = (status: ProjectStatus): ProjectState => ({ ...status, pause_reason: null });

const titleOf = (brief: string): string => brief.trim().split('\n', 1)[0]!.trim().slice(0, MAX_TITLE_LENGTH);
