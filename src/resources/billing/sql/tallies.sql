-- Counts and sums ledger rows by kind. Triggers, because every posting inserts one.
SELECT keep_tally(
  'wallet_ledger', 'wallet_ledger',
  place => 'r.id',
  dims => 'array[r.kind::text]',
  counts => 'true',
  usd => 'r.delta_usd_micros / 1000000.0',
  changes => NULL
);
