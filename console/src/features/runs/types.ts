/** Types of runs, as the control plane answers them. */

export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const isInFlight = (status: RunStatus): boolean => status === 'queued' || status === 'running';

export const EFFORTS = ['none', 'low', 'medium', 'high', 'max'] as const;

export const TRANSPORTS = ['rest', 'cli', 'cron', 'slack', 'discord', 'telegram', 'whatsapp'] as const;

export interface FoundRun {
  run_id: string;
  parent_run_id: string | null;
  project_id: string | null;
  agent: string | null;
  sample: boolean;
  transport: string;
  status: RunStatus;
  prompt: string;
  error: string | null;
  model: string | null;
  cost_usd: string;
  is_priced: boolean;
  event_count: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface ShownRun extends FoundRun {
  output: string | null;
  thread_id: string | null;
  model_rule: string;
  context_window: number | null;
  input_tokens: number;
  output_tokens: number;
  turn_count: number;
  saved_usd: string;
  waits_for: { what: string; since: string } | null;
  budget: { limit_usd: string | null; spent_usd: string; reserved_usd: string } | null;
  children: { run_id: string; agent: string | null; status: RunStatus; cost_usd: string }[];
  can_retry: boolean;
}

export interface RunEvent {
  id: number;
  ts: string;
  event_type: string;
  duration_ms: number | null;
  cost_usd: string | null;
  status: string | null;
  payload: Record<string, unknown>;
}

export interface ToolCall {
  call_id: string;
  tool: string;
  status: 'pending' | 'succeeded' | 'failed';
  arguments: unknown;
  result: unknown;
}

export interface Spoken {
  turn: number;
  role: 'system' | 'user' | 'assistant';
  content: unknown;
  calls: ToolCall[];
}

export interface Agent {
  slug: string;
  description: string | null;
}

export interface RunContext {
  model: string | null;
  context_window: number | null;
  total_tokens: number;
  categories: {
    category: 'system_prompt' | 'tools' | 'skills' | 'memory' | 'messages' | 'tool_results';
    tokens: number;
    bytes: number;
  }[];
}
