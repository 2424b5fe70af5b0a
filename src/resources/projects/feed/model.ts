/** Words of a project's feed of events. */
export const EVENT_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type EventLevel = (typeof EVENT_LEVELS)[number];

export const EVENT_CATEGORIES = [
  'project',
  'task',
  'subtask',
  'review',
  'gate',
  'artifact',
  'retry',
  'cost',
  'crash',
] as const;
export type EventCategory = (typeof EVENT_CATEGORIES)[number];

/** Every topic of the feed, with its category and its usual level, which the writer of an event may override. */
export const TOPICS = {
  project_started: ['project', 'info'],
  project_completed: ['project', 'info'],
  project_paused: ['project', 'warn'],
  project_reminded: ['project', 'info'],
  edit_session_started: ['project', 'info'],
  task_started: ['task', 'info'],
  task_succeeded: ['task', 'info'],
  task_skipped: ['task', 'info'],
  task_stale: ['task', 'warn'],
  subtask_attempt_started: ['subtask', 'info'],
  subtask_succeeded: ['subtask', 'info'],
  subtask_failed: ['subtask', 'error'],
  subtask_skipped: ['subtask', 'info'],
  subtask_alive: ['subtask', 'debug'],
  review_feedback_recorded: ['review', 'info'],
  gate_awaiting: ['gate', 'info'],
  gate_resolved: ['gate', 'info'],
  gate_answer_ignored: ['gate', 'warn'],
  gate_vote_recorded: ['gate', 'info'],
  gate_delegated: ['gate', 'info'],
  gate_reminded: ['gate', 'info'],
  gate_escalated: ['gate', 'warn'],
  gate_timed_out: ['gate', 'warn'],
  gate_misconfigured: ['gate', 'error'],
  artifact_promoted: ['artifact', 'info'],
  artifact_reverted: ['artifact', 'info'],
  artifact_set_manually: ['artifact', 'info'],
  cascade_skipped: ['artifact', 'info'],
  subtask_retry_queued: ['retry', 'info'],
  subtask_retry_triggered: ['retry', 'info'],
  phase_retriggered: ['retry', 'info'],
  cost_threshold_warning: ['cost', 'warn'],
  cost_budget_breached: ['cost', 'error'],
  crash_recovered: ['crash', 'warn'],
  repeat_crash_pause: ['crash', 'error'],
  nonidempotent_crash_paused: ['crash', 'error'],
  nonidempotent_crash_resolved: ['crash', 'info'],
} as const satisfies Record<string, readonly [EventCategory, EventLevel]>;
export type Topic = keyof typeof TOPICS;
