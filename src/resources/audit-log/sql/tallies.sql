-- Counts audit entries by action and actor. Triggers, because every endpoint that changes something writes one, and
-- retention deletes them.
SELECT keep_tally(
  'audit_log', 'audit_log',
  place => 'r.id',
  dims => 'array[r.action, r.actor]',
  counts => 'true',
  usd => '0',
  changes => NULL
);
