-- Refuses every change of a ledger row.
CREATE OR REPLACE FUNCTION wallet_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'wallet_ledger is append-only: post a refund or an adjustment instead' USING ERRCODE = 'restrict_violation';
END $$;

-- A trigger, because it guards against statements that nobody has written yet, and against an operator at a psql
-- prompt.
CREATE TRIGGER wallet_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_ledger
  FOR EACH STATEMENT
  EXECUTE FUNCTION wallet_ledger_refuse();
