-- Counts conversations. Triggers, because messages begin them, and people, retention and the end of a workspace delete
-- them.
SELECT keep_tally(
  'chat_threads', 'chat_threads',
  place => '0::bigint',
  dims => 'array[]::text[]',
  counts => 'true',
  usd => '0',
  changes => NULL
);
