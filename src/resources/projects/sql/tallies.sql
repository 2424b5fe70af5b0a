-- Counts projects by status and template. Triggers, because each command and each end of a phase can change the status.
SELECT keep_tally(
  'projects', 'projects',
  place => 'r.seq',
  dims => 'array[r.status::text, r.workflow_slug]',
  counts => 'true',
  usd => '0',
  changes => 'status'
);

-- Counts project events by category and level. Triggers, because every command and every step writes events, and
-- retention deletes them.
SELECT keep_tally(
  'project_events', 'project_events',
  place => '0::bigint',
  dims => 'array[r.category::text, r.level::text]',
  counts => 'true',
  usd => '0',
  changes => NULL
);

-- Counts webhook gates by status. Triggers, because a gate opens with a step and ends by an answer, a time-out or a
-- reset of its phase.
SELECT keep_tally(
  'webhook_gates', 'subtasks',
  place => '0::bigint',
  dims => 'array[r.status::text]',
  counts => 'r.gate_kind = ''webhook''',
  usd => '0',
  changes => 'status'
);
