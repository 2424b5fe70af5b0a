-- Counts deliveries by status and destination. Triggers, because projects, waits and redeliveries make them, workflows
-- end them, and retention deletes them.
SELECT keep_tally(
  'output_deliveries', 'output_deliveries',
  place => '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4',
  dims => 'array[r.status::text, r.destination_id::text]',
  counts => 'true',
  usd => '0',
  changes => 'status'
);
