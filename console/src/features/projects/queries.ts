/** Queries about projects. Everything of one project is below one key, so that an event refreshes all of it. */
import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { CriticalPath, Estimate } from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import type { Artifact, Attempt, Phase, Project, Step, Workflow, WorkflowDetail } from './types.ts';
import type { ProjectFilters } from './view.ts';

const PAGE = 50;
const path = (id: string) => `/v1/projects/${encodeURIComponent(id)}`;

/** @returns the filters as the service's query parameters */
export const asProjectQuery = ({ hours, ...same }: ProjectFilters) => ({
  ...same,
  from: hours === undefined ? undefined : new Date(Date.now() - hours * 3_600_000).toISOString(),
});

export const projectsQuery = (filters: ProjectFilters = {}) =>
  infiniteQueryOptions({
    queryKey: ['projects', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      get<{ data: Project[]; meta: { total: number } }>(
        '/v1/projects',
        { ...asProjectQuery(filters), limit: PAGE, offset: pageParam },
        signal,
      ),
    initialPageParam: 0,
    getNextPageParam: ({ meta }, pages) => {
      const seen = pages.reduce((sum, { data }) => sum + data.length, 0);
      return seen < meta.total ? seen : undefined;
    },
  });

const one = <T>(id: string, part: string, query?: Record<string, string>) =>
  queryOptions({
    queryKey: ['projects', 'one', id, part],
    queryFn: ({ signal }) => get<T>(path(id) + part, query, signal),
    staleTime: 1_000,
  });

export const projectQuery = (id: string) => one<Project>(id, '');
export const phasesQuery = (id: string) => one<{ data: Phase[] }>(id, '/tasks');
export const stepsQuery = (id: string, phaseId: string) => one<{ data: Step[] }>(id, `/tasks/${phaseId}/subtasks`);
export const attemptsQuery = (id: string, stepId: string) =>
  one<{ data: Attempt[] }>(id, `/subtasks/${stepId}/attempts`);
export const artifactsQuery = (id: string) => one<{ data: Artifact[] }>(id, '/artifacts', { current_only: 'false' });

export const criticalPathQuery = (id: string) => one<CriticalPath>(id, '/critical-path');

export interface Thought {
  of: 'retrigger' | 'revert' | 'resume';
  phase_slug?: string;
  cascade?: string;
}
/** Asks what a command would run and cost. It is asked anew each time that it is shown. */
export const estimateQuery = (id: string, thought: Thought) =>
  queryOptions({
    queryKey: ['projects', 'one', id, 'estimate', thought],
    queryFn: ({ signal }) => get<Estimate>(`${path(id)}/estimate`, { ...thought }, signal),
    staleTime: 1_000,
  });

export const workflowsQuery = queryOptions({
  queryKey: ['workflows'],
  queryFn: async ({ signal }) => (await get<{ data: Workflow[] }>('/v1/workflows', undefined, signal)).data,
  staleTime: 60_000,
});
export const workflowQuery = (slug: string) =>
  queryOptions({
    queryKey: ['workflows', slug],
    queryFn: ({ signal }) => get<WorkflowDetail>(`/v1/workflows/${encodeURIComponent(slug)}`, undefined, signal),
    staleTime: 60_000,
    enabled: slug !== '',
  });

export function useProjectLive(id: string): void {
  const client = useQueryClient();
  useRefresh(() => void client.invalidateQueries({ queryKey: ['projects', 'one', id] }), {
    kinds: ['project', 'run', 'wait'],
    projectId: id,
  });
}
