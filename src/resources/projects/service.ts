/** Reads projects and creates them for a caller. A project is accepted in Postgres first, and then started. */
import type { Log } from '../../platform/core/log.ts';
import { first } from '../../platform/core/present.ts';
import { findValueProblem } from '../../platform/core/schema-checks.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Claim } from '../../platform/http/once-only.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { createLostStarts } from '../../platform/temporal/starting.ts';
import { orderPhases, type WorkflowSpec } from '../templates/model.ts';
import type { NewProjectRequest, ProjectPatch, ProjectRequest } from './contract.ts';
import type { ProjectEventRow, ProjectQuery } from './reads/contract.ts';
import { uuid } from './ids.ts';
import { MOST_FOUND } from './model.ts';
import type { SampleService } from '../samples/service.ts';
import type { ProjectStarter } from './start.ts';
import type { NewProject } from './store/create.ts';
import type { ProjectStore } from './store/index.ts';
import type { ProjectFilter } from './store/queries.ts';

export type ProjectService = ReturnType<typeof createProjectService>;

/** What a project is made from. */
interface ProjectTemplates {
  /** @returns an active version, which is the latest where none is named */
  resolveForProject(
    customerId: string,
    slug: string,
    version?: number,
  ): Promise<{ version: number; name: string; spec: WorkflowSpec } | undefined>;
  /** @returns a sentence for each name in the template's steps that nothing has */
  unresolvedBindings(customerId: string, spec: WorkflowSpec): Promise<string[]>;
}

/** Events are listed newest first. */
interface ProjectEvents {
  listOfProject(customerId: string, projectId: string, limit: number): Promise<ProjectEventRow[]>;
  listOfSubtask(customerId: string, subtaskId: string, limit: number): Promise<ProjectEventRow[]>;
}

export interface ProjectServiceDependencies {
  temporal: Temporal;
  store: ProjectStore;
  events: ProjectEvents;
  starter: ProjectStarter;
  templates: ProjectTemplates;
  search: ProjectSearch;
  isSample: SampleService['isSample'];
  log: Log;
}

/** Finds projects by words, as the search over the workspace does. */
interface ProjectSearch {
  projectsWith(customerId: string, asked: ProjectFilter & { q: string }, most: number): Promise<string[]>;
}

const OWNER_KIND = 'internal';
const DERIVED_TITLE_LENGTH = 80;
const MAX_TOLD = 20;

/** @returns the beginning of a brief, as the title of a project that was given none; no character is cut in two */
const titleOf = (brief: string): string =>
  [...first(brief.trim().split('\n', 1)).trim()].slice(0, DERIVED_TITLE_LENGTH).join('');

const listed = <Row>(data: Row[]) => ({ data, meta: { total: data.length } });

export const createProjectService = (deps: ProjectServiceDependencies) => {
  const { temporal, store, events, starter, templates, search, isSample, log } = deps;

  const findProject = async ({ customerId }: Caller, projectId: string) =>
    found(await store.findProject(customerId, projectId));
  const requireProject = async ({ customerId }: Caller, projectId: string) =>
    found(await store.findProjectState(customerId, projectId));
  const findTask = async ({ customerId }: Caller, projectId: string, taskId: string) =>
    found(await store.findTask(customerId, projectId, uuid(taskId)));
  const findSubtask = async ({ customerId }: Caller, projectId: string, subtaskId: string) =>
    found(await store.findSubtask(customerId, projectId, uuid(subtaskId)));

  /** @throws Problem not_found, bad_request */
  async function requirePhases(caller: Caller, projectId: string, slugs: readonly string[]): Promise<void> {
    await requireProject(caller, projectId);
    const phases = await store.listPhaseSlugs(caller.customerId, projectId);
    const unknown = slugs.find((slug) => !phases.includes(slug));
    if (unknown !== undefined) {
      throw new Problem('bad_request', `phase_cost_budgets: the project has no phase "${unknown}"`);
    }
  }

  /** Refuses everything that can be refused, before there is any row. */
  async function plan(
    { customerId, actor }: Caller,
    body: ProjectRequest & Partial<Pick<NewProjectRequest, 'attachment_ids'>>,
    authMode: NewProject['authMode'],
  ): Promise<NewProject> {
    const { workflow_slug: slug, workflow_version: version, params = null } = body;
    const template = await templates.resolveForProject(customerId, slug, version ?? undefined);
    if (!template) {
      const named = version == null ? slug : `${slug} version ${version}`;
      throw new Problem('bad_request', `unknown or archived workflow: ${named}`);
    }
    const { spec } = template;
    const wrong = spec.params && (await findValueProblem(spec.params, params ?? {}, 'params'));
    if (wrong) throw new Problem('bad_request', wrong);
    const unresolved = await templates.unresolvedBindings(customerId, spec);
    if (unresolved.length > 0) {
      const told = unresolved.slice(0, MAX_TOLD).join('; ');
      throw new Problem('bad_request', `template has unresolvable step bindings: ${told}`);
    }
    return {
      customerId,
      title: body.title ?? titleOf(body.brief),
      isTitled: body.title !== undefined,
      isSample: await isSample({ workflow: slug, version: template.version, brief: body.brief, params }),
      workflowSlug: slug,
      workflowVersion: template.version,
      brief: body.brief,
      params,
      authMode,
      startedBy: actor,
      costBudgetUsd: body.cost_budget_usd ?? null,
      phases: orderPhases(spec),
      attachmentIds: [...new Set(body.attachment_ids)],
    };
  }

  /** Accepts a project, then starts it. One that cannot be started is withdrawn, so that a 502 has changed nothing. */
  async function accept(
    caller: Caller,
    body: Parameters<typeof plan>[1],
    authMode: NewProject['authMode'],
    claim?: Claim,
  ) {
    const made = claim?.made ? await store.findProject(caller.customerId, claim.made) : undefined;
    if (made) return made;
    const { project, board } = await store.createProject(await plan(caller, body, authMode), claim);
    try {
      await withinDeadline(temporal, () => starter.startPlanned(board));
    } catch (error) {
      const isWithdrawn = await store.withdrawProject(caller.customerId, project.id);
      if (isWithdrawn) throw error;
      log.warn({ project_id: project.id, err: error }, 'the start of a project seemed to fail but did not');
    }
    return project;
  }

  return {
    /** This is a chore of housekeeping. */
    startLost: createLostStarts({
      take: store.takeUnstarted,
      load: store.loadUnstarted,
      start: ({ id }) => withinDeadline(temporal, () => starter.start(id)),
      what: 'project',
      log,
    }),

    create: (caller: Caller, body: NewProjectRequest, claim?: Claim) => accept(caller, body, 'session', claim),

    async startByKey(caller: Caller, body: ProjectRequest, claim?: Claim) {
      const { id, status } = await accept(caller, body, 'api_key', claim);
      return { project_id: id, status };
    },

    async update(caller: Caller, projectId: string, patch: ProjectPatch) {
      const { title, cost_budget_usd: costBudgetUsd, phase_cost_budgets: phaseBudgetsUsd } = patch;
      if (phaseBudgetsUsd) await requirePhases(caller, projectId, Object.keys(phaseBudgetsUsd));
      const changes = { title, costBudgetUsd, phaseBudgetsUsd };
      const isUpdated = await store.updateProject(caller.customerId, projectId, changes);
      if (!isUpdated) throw new Problem('not_found');
      return findProject(caller, projectId);
    },

    get: findProject,

    async list({ customerId }: Caller, query: ProjectQuery) {
      const { status, workflow_slug: workflowSlug, owner_kind, owner_id, q, from, to, limit, offset } = query;
      // Every project of a workspace is owned by the workspace itself.
      const isOwn = (owner_kind ?? OWNER_KIND) === OWNER_KIND && (owner_id ?? customerId) === customerId;
      if (!isOwn) return { data: [], meta: { total: 0, limit, offset } };
      const page = { limit, offset };
      const filter = { status, workflowSlug, from, to };
      const ids = q ? await search.projectsWith(customerId, { ...filter, q }, MOST_FOUND) : undefined;
      const { rows, total } =
        ids || from || to
          ? await store.findProjects(customerId, { ...filter, ids }, page)
          : await store.listProjects(customerId, filter, page);
      return { data: rows, meta: { total, ...page } };
    },

    /** @returns the project as an API key sees it */
    async status(caller: Caller, projectId: string) {
      const project = await findProject(caller, projectId);
      const tasks = await store.listTasks(caller.customerId, projectId);
      const phases = tasks.filter(({ task_kind }) => task_kind === 'regular');
      return {
        project_id: project.id,
        title: project.title,
        workflow_slug: project.workflow_slug,
        workflow_version: project.workflow_version,
        status: project.status,
        phases: phases.map(({ phase_slug, status }) => ({ phase_slug, status })),
        cost_total_usd: project.cost_total_usd,
        is_priced: project.is_priced,
        started_at: project.started_at,
        completed_at: project.completed_at,
        sample: project.sample,
      };
    },

    async tasks(caller: Caller, projectId: string) {
      await requireProject(caller, projectId);
      return listed(await store.listTasks(caller.customerId, projectId));
    },

    task: findTask,

    async subtasks(caller: Caller, projectId: string, taskId: string) {
      const task = await findTask(caller, projectId, taskId);
      return listed(await store.listSubtasks(caller.customerId, task.id));
    },

    async subtask(caller: Caller, projectId: string, taskId: string, subtaskId: string) {
      const subtask = await findSubtask(caller, projectId, subtaskId);
      return found(subtask.task_id === taskId.toLowerCase() ? subtask : undefined);
    },

    async attempts(caller: Caller, projectId: string, subtaskId: string) {
      const subtask = await findSubtask(caller, projectId, subtaskId);
      return listed(await store.listAttempts(caller.customerId, subtask.id));
    },

    async events(caller: Caller, projectId: string, limit: number) {
      await requireProject(caller, projectId);
      return { data: await events.listOfProject(caller.customerId, projectId, limit), meta: { limit } };
    },

    async subtaskEvents(caller: Caller, projectId: string, subtaskId: string, limit: number) {
      const subtask = await findSubtask(caller, projectId, subtaskId);
      return { data: await events.listOfSubtask(caller.customerId, subtask.id, limit), meta: { limit } };
    },

    async artifacts(caller: Caller, projectId: string, currentOnly: boolean) {
      await requireProject(caller, projectId);
      return listed(await store.listArtifacts(caller.customerId, projectId, currentOnly));
    },

    artifact: async ({ customerId }: Caller, projectId: string, artifactId: string) =>
      found(await store.findArtifact(customerId, projectId, uuid(artifactId))),

    async cost(caller: Caller, projectId: string) {
      const sums = found(await store.sumCost(caller.customerId, projectId));
      const tasks = await store.listTasks(caller.customerId, projectId);
      return {
        project_id: projectId,
        ...sums,
        tasks: tasks.map(({ id, phase_slug, task_kind, cost_budget_usd, cost_usd }) => ({
          task_id: id,
          phase_slug,
          task_kind,
          budget_usd: cost_budget_usd,
          spent_usd: cost_usd,
        })),
      };
    },
  };
};
