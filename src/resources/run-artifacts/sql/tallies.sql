-- Counts files of runs by agent. Triggers, because tools make them, and deleting a run deletes them.
SELECT keep_tally(
  'run_artifacts', 'run_artifacts',
  place => '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4',
  dims => 'array[r.agent]',
  counts => 'true',
  usd => '0',
  changes => NULL
);
