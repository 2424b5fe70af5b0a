-- The balance of a wallet is the limit of its budget. A ledger row moves it under the lock of the budget row, so that
-- postings of one wallet are serialized: row numbers follow the order of the balances, and a key counts once. A
-- repeated key inserts nothing, and is no error.
CREATE OR REPLACE FUNCTION wallet_ledger_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wallet text := 'wallet:' || new.customer_id;
BEGIN
  INSERT INTO budgets (id, customer_id, limit_usd) VALUES (wallet, new.customer_id, 0) ON CONFLICT (id) DO NOTHING;
  PERFORM 1 FROM budgets WHERE id = wallet FOR UPDATE;
  IF EXISTS (SELECT 1 FROM wallet_ledger l WHERE l.customer_id = new.customer_id AND l.key = new.key) THEN
    RETURN NULL;
  END IF;
  UPDATE budgets SET limit_usd = limit_usd + new.delta_usd_micros / 1000000.0 WHERE id = wallet
    RETURNING (limit_usd * 1000000)::bigint INTO new.balance_after_usd_micros;
  new.id := nextval('wallet_ledger_id_seq');
  RETURN new;
END $$;

-- A trigger, because top-ups, booked turns, infrastructure minutes, refunds and adjustments by hand all insert ledger
-- rows: none of them may move the balance without the ledger, or the ledger without the balance.
CREATE TRIGGER wallet_ledger_post BEFORE INSERT ON wallet_ledger
  FOR EACH ROW
  EXECUTE FUNCTION wallet_ledger_post();
