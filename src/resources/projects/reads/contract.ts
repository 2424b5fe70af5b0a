/** Declares the HTTP contract of reading projects on the control plane. */
import { z } from 'zod';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { limit, listReply, offset, pageReply, Timestamp, Usd } from '../../../platform/http/schemas.ts';
import {
  Artifact,
  ArtifactPath,
  Attempt,
  Project,
  ProjectPath,
  Subtask,
  SubtaskPath,
  Task,
  TaskPath,
} from '../contract.ts';
import { ACTOR_KINDS, MOST_FOUND, PROJECT_STATUSES, TASK_KINDS } from '../model.ts';
import { EVENT_CATEGORIES, EVENT_LEVELS, TOPICS, type Topic } from '../feed/model.ts';

export const ProjectEvent = z
  .object({
    id: z.int(),
    ts: Timestamp,
    project_id: z.string(),
    task_id: z.uuid().nullable(),
    subtask_id: z.uuid().nullable(),
    attempt_number: z.int().nullable(),
    level: z.enum(EVENT_LEVELS),
    category: z.enum(EVENT_CATEGORIES),
    topic: z.enum(Object.keys(TOPICS) as Topic[]),
    actor_kind: z.enum(ACTOR_KINDS),
    actor_id: z.string().nullable(),
    payload_jsonb: z.record(z.string(), z.unknown()),
    trace_id: z.uuid().nullable(),
  })
  .meta({ id: 'ProjectEvent' });
export type ProjectEventRow = z.input<typeof ProjectEvent>;

const ProjectCost = z
  .object({
    project_id: z.string(),
    total_usd: Usd,
    budget_usd: Usd.nullable(),
    budget_burn: z.number().describe('Spent / budget; 0 without a budget'),
    tasks: z.array(
      z.object({
        task_id: z.uuid(),
        phase_slug: z.string(),
        task_kind: z.enum(TASK_KINDS),
        budget_usd: Usd.nullable(),
        spent_usd: Usd,
      }),
    ),
  })
  .meta({ id: 'ProjectCost' });

const Instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const ProjectQuery = z.object({
  status: z.enum(PROJECT_STATUSES).optional(),
  workflow_slug: z.string().max(200).optional(),
  q: z
    .string()
    .trim()
    .max(200)
    .optional()
    .describe('Words of the title, the brief or the workflow, each found by its beginning, or an id'),
  from: Instant.optional().describe('Started at this time or later'),
  to: Instant.optional().describe('Started before this time'),
  owner_kind: z.string().max(200).optional(),
  owner_id: z.string().max(200).optional(),
  limit: limit(500, 50),
  offset,
});
export type ProjectQuery = z.output<typeof ProjectQuery>;

const eventsReply = z.object({ data: z.array(ProjectEvent), meta: z.object({ limit: z.int() }) });

export const listProjects = endpoint({
  id: 'projects.list',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects',
  credential: 'session',
  summary: 'List projects, newest first',
  description: `With \`q\`, \`from\` or \`to\` the newest ${MOST_FOUND.toLocaleString('en')} that match are listed and counted.`,
  query: ProjectQuery,
  status: 200,
  reply: pageReply(Project),
});

export const getProject = endpoint({
  id: 'projects.get',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}',
  credential: 'session',
  summary: 'One project',
  params: ProjectPath,
  status: 200,
  reply: Project,
  problems: ['not_found'],
});

export const listTasks = endpoint({
  id: 'projects.tasks',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/tasks',
  credential: 'session',
  summary: 'Phases of a project in pipeline order, then its edit sessions',
  params: ProjectPath,
  status: 200,
  reply: listReply(Task),
  problems: ['not_found'],
});

export const getTask = endpoint({
  id: 'projects.task',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/tasks/{task_id}',
  credential: 'session',
  summary: 'One phase of a project',
  params: TaskPath,
  status: 200,
  reply: Task,
  problems: ['not_found'],
});

export const listSubtasks = endpoint({
  id: 'projects.subtasks',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/tasks/{task_id}/subtasks',
  credential: 'session',
  summary: 'Steps of a phase',
  params: TaskPath,
  status: 200,
  reply: listReply(Subtask),
  problems: ['not_found'],
});

export const getSubtask = endpoint({
  id: 'projects.subtask',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/tasks/{task_id}/subtasks/{subtask_id}',
  credential: 'session',
  summary: 'One step of a phase',
  params: TaskPath.extend(SubtaskPath.shape),
  status: 200,
  reply: Subtask,
  problems: ['not_found'],
});

export const listAttempts = endpoint({
  id: 'projects.attempts',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/subtasks/{subtask_id}/attempts',
  credential: 'session',
  summary: 'Attempts of a step, by number',
  params: SubtaskPath,
  status: 200,
  reply: listReply(Attempt),
  problems: ['not_found'],
});

export const listEventsOfProject = endpoint({
  id: 'projects.events',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/events',
  credential: 'session',
  summary: 'Events of a project, newest first',
  params: ProjectPath,
  query: z.object({ limit: limit(1_000, 200) }),
  status: 200,
  reply: eventsReply,
  problems: ['not_found'],
});

export const listEventsOfSubtask = endpoint({
  id: 'projects.subtaskEvents',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/subtasks/{subtask_id}/events',
  credential: 'session',
  summary: 'Events of one step, newest first',
  params: SubtaskPath,
  query: z.object({ limit: limit(2_000, 200) }),
  status: 200,
  reply: eventsReply,
  problems: ['not_found'],
});

export const listArtifacts = endpoint({
  id: 'projects.artifacts',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/artifacts',
  credential: 'session',
  summary: 'What the phases made: the current versions, or all',
  params: ProjectPath,
  query: z.object({
    current_only: z
      .enum(['true', 'false'])
      .default('true')
      .transform((text) => text === 'true'),
  }),
  status: 200,
  reply: listReply(Artifact),
  problems: ['not_found'],
});

export const getArtifact = endpoint({
  id: 'projects.artifact',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/artifacts/{artifact_id}',
  credential: 'session',
  summary: 'One version of what a phase made',
  params: ArtifactPath,
  status: 200,
  reply: Artifact,
  problems: ['not_found'],
});

export const getProjectCost = endpoint({
  id: 'projects.cost',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/projects/{project_id}/cost',
  credential: 'session',
  summary: 'What a project has spent, by phase',
  params: ProjectPath,
  status: 200,
  reply: ProjectCost,
  problems: ['not_found'],
});
