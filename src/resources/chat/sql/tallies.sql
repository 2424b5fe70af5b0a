-- Counts conversations. Triggers, because the console and the API both begin and delete them.
SELECT keep_tally(
  'chat_threads', 'chat_threads',
  place => '0::bigint',
  dims => 'array[]::text[]',
  counts => 'true',
  usd => '0',
  changes => NULL
);
