-- Counts deliveries by status and endpoint. Triggers, because runs, projects and redeliveries make them, workflows end
-- them, and retention deletes them.
SELECT keep_tally(
  'webhook_deliveries', 'webhook_deliveries',
  place => '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4',
  dims => 'array[r.status::text, r.subscription_id::text]',
  counts => 'true',
  usd => '0',
  changes => 'status'
);
