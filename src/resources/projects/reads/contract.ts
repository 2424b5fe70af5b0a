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
  path: '/v1/projects',
  summary: 'List projects, newest first',
  description: `With \`q\`, \`from\` or \`to\` the newest ${MOST_FOUND.toLocaleString('en')} that match are listed and counted.`,
  query: ProjectQuery,
  reply: pageReply(Project),
});

export const getProject = endpoint({
  id: 'projects.get',
  path: '/v1/projects/{project_id}',
  summary: 'One project',
  params: ProjectPath,
  reply: Project,
  problems: ['not_found'],
});

export const listTasks = endpoint({
  id: 'projects.tasks',
  path: '/v1/projects/{project_id}/tasks',
  summary: 'Phases of a project in pipeline order, then its edit sessions',
  params: ProjectPath,
  reply: listReply(Task),
  problems: ['not_found'],
});

export const getTask = endpoint({
  id: 'projects.task',
  path: '/v1/projects/{project_id}/tasks/{task_id}',
  summary: 'One phase of a project',
  params: TaskPath,
  reply: Task,
  problems: ['not_found'],
});

export const listSubtasks = endpoint({
  id: 'projects.subtasks',
  path: '/v1/projects/{project_id}/tasks/{task_id}/subtasks',
  summary: 'Steps of a phase',
  params: TaskPath,
  reply: listReply(Subtask),
  problems: ['not_found'],
});

export const getSubtask = endpoint({
  id: 'projects.subtask',
  path: '/v1/projects/{project_id}/tasks/{task_id}/subtasks/{subtask_id}',
  summary: 'One step of a phase',
  params: TaskPath.extend(SubtaskPath.shape),
  reply: Subtask,
  problems: ['not_found'],
});

export const listAttempts = endpoint({
  id: 'projects.attempts',
  path: '/v1/projects/{project_id}/subtasks/{subtask_id}/attempts',
  summary: 'Attempts of a step, by number',
  params: SubtaskPath,
  reply: listReply(Attempt),
  problems: ['not_found'],
});

export const listEventsOfProject = endpoint({
  id: 'projects.events',
  path: '/v1/projects/{project_id}/events',
  summary: 'Events of a project, newest first',
  params: ProjectPath,
  query: z.object({ limit: limit(1_000, 200) }),
  reply: eventsReply,
  problems: ['not_found'],
});

export const listEventsOfSubtask = endpoint({
  id: 'projects.subtaskEvents',
  path: '/v1/projects/{project_id}/subtasks/{subtask_id}/events',
  summary: 'Events of one step, newest first',
  params: SubtaskPath,
  query: z.object({ limit: limit(2_000, 200) }),
  reply: eventsReply,
  problems: ['not_found'],
});

export const listArtifacts = endpoint({
  id: 'projects.artifacts',
  path: '/v1/projects/{project_id}/artifacts',
  summary: 'What the phases made: the current versions, or all',
  params: ProjectPath,
  query: z.object({
    current_only: z
      .enum(['true', 'false'])
      .default('true')
      .transform((text) => text === 'true'),
  }),
  reply: listReply(Artifact),
  problems: ['not_found'],
});

export const getArtifact = endpoint({
  id: 'projects.artifact',
  path: '/v1/projects/{project_id}/artifacts/{artifact_id}',
  summary: 'One version of what a phase made',
  params: ArtifactPath,
  reply: Artifact,
  problems: ['not_found'],
});

export const getProjectCost = endpoint({
  id: 'projects.cost',
  path: '/v1/projects/{project_id}/cost',
  summary: 'What a project has spent, by phase',
  params: ProjectPath,
  reply: ProjectCost,
  problems: ['not_found'],
});
