/** Types of projects, as the control plane answers them. */
import type { JsonSchema } from '../../ui/schema-fields.tsx';

export const PROJECT_STATUSES = ['planning', 'active', 'paused', 'completed', 'abandoned'] as const;
export type ProjectStatus = (typeof PROJECT_STATUSES)[number];

export interface Project {
  id: string;
  title: string;
  workflow_slug: string;
  workflow_version: number;
  sample: boolean;
  status: ProjectStatus;
  pause_reason: string | null;
  has_stale_phases: boolean;
  brief: string;
  params: Record<string, unknown> | null;
  cost_budget_usd: string | null;
  cost_total_usd: string;
  is_priced: boolean;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  abandoned_at: string | null;
}
export const isEnded = ({ status }: Project): boolean => status === 'completed' || status === 'abandoned';

export interface Phase {
  id: string;
  phase_slug: string;
  title: string;
  status: string;
  depends_on: string[];
  task_kind: 'regular' | 'edit_session';
  cost_usd: string;
  is_priced: boolean;
  cost_budget_usd: string | null;
  started_at: string | null;
  completed_at: string | null;
}

export interface Step {
  id: string;
  task_id: string;
  step_slug: string;
  title: string;
  kind: string;
  role: string;
  assignee: string | null;
  status: string;
  instructions: string | null;
  gate_kind: string | null;
  gate_config: Record<string, unknown> | null;
  attempt_count: number;
  max_attempts: number;
  cost_usd: string;
  is_priced: boolean;
  error: string | null;
  started_at: string | null;
  completed_at: string | null;
}

export interface Attempt {
  id: string;
  attempt_number: number;
  attempt_reason: string;
  status: string;
  output: unknown;
  error: string | null;
  cost_usd: string;
  is_priced: boolean;
  child_run_id: string | null;
  started_at: string | null;
  completed_at: string | null;
}

export interface Artifact {
  id: string;
  phase_slug: string;
  version: number;
  schema_slug: string;
  sample: boolean;
  content: unknown;
  produced_via: string;
  superseded: boolean;
  created_at: string;
}

export interface Workflow {
  slug: string;
  name: string;
  description: string;
  phase_count: number;
  version: number;
  is_builtin: boolean;
}

export interface WorkflowDetail extends Workflow {
  spec: { params?: JsonSchema | null };
}
