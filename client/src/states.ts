/** Reads what is known of runs and projects, with a key as with a session. */
import type { Project, ProjectStatus, Run } from './generated/types.gen.ts';

export type RunState = Pick<Run, 'run_id' | 'agent' | 'status' | 'output' | 'error' | 'started_at' | 'completed_at'>;

export const hasEnded = ({ status }: RunState): boolean => status !== 'queued' && status !== 'running';

export type ProjectState = Pick<
  ProjectStatus,
  | 'title'
  | 'workflow_slug'
  | 'workflow_version'
  | 'status'
  | 'cost_total_usd'
  | 'is_priced'
  | 'started_at'
  | 'completed_at'
> & {
  project_id: string;
  /** Null also for a client that has only a key, because the public API does not tell it. */
  pause_reason: Project['pause_reason'];
};

export const isOver = ({ status }: ProjectState): boolean => status === 'completed' || status === 'abandoned';
