-- Counts memory entries by agent, type and scope. Triggers, because people, tools, manifests and imports of files write
-- entries.
SELECT keep_tally(
  'memory_entries', 'memory_entries',
  place => '0::bigint',
  dims => 'array[r.agent, r.type, r.scope]',
  counts => 'true',
  usd => '0',
  changes => 'agent, type, scope'
);
