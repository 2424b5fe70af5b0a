-- Counts runs by agent and transport. Triggers, because runs are accepted over REST and MCP, by schedules, by steps and
-- by other runs, and change their agent when they are classified.
SELECT keep_tally(
  'runs', 'runs',
  place => 'r.seq',
  dims => 'array[r.agent, r.transport]',
  counts => 'true',
  usd => '0',
  changes => 'agent, transport'
);

-- Counts and sums runs that have ended, by agent and status. Triggers, because a run ends in its last turn, by
-- cancellation, by reconciliation and with its workspace.
SELECT keep_tally(
  'run_outcomes', 'runs',
  place => '0::bigint',
  dims => 'array[r.agent, r.status::text]',
  counts => 'r.completed_at is not null',
  usd => 'r.cost_usd',
  changes => 'agent, status, cost_usd, completed_at'
);
