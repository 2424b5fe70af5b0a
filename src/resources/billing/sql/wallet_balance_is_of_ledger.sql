-- Holds the balance to the ledger at the end of the transaction, whoever moved it: each ledger row adds its delta to
-- the balance before it, so the balance of the last row is the sum of all of them, and the cost of the check does not
-- grow.
CREATE OR REPLACE FUNCTION wallet_balance_is_of_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  customer text := (coalesce(old, new)).customer_id;
  balance numeric := (SELECT limit_usd FROM budgets WHERE id = 'wallet:' || customer);
  of_ledger bigint := (
    SELECT balance_after_usd_micros FROM wallet_ledger WHERE customer_id = customer ORDER BY id DESC LIMIT 1);
BEGIN
  IF coalesce(balance, 0) * 1000000 <> coalesce(of_ledger, 0) THEN
    RAISE EXCEPTION 'the balance of wallet:% is kept by wallet_ledger alone', customer USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;

-- A trigger, because turns, top-ups and refunds move budgets in statements of their own, and operators can too.
-- Deferred, because the ledger row comes after the budget row.
CREATE CONSTRAINT TRIGGER budgets_wallet_made AFTER INSERT ON budgets DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (new.id LIKE 'wallet:%')
  EXECUTE FUNCTION wallet_balance_is_of_ledger();

-- A trigger, because turns, top-ups and refunds move budgets in statements of their own, and operators can too.
-- Deferred, because the ledger row comes after the budget row.
CREATE CONSTRAINT TRIGGER budgets_wallet_moved AFTER UPDATE OF id, customer_id, limit_usd ON budgets DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (old.id LIKE 'wallet:%' OR new.id LIKE 'wallet:%')
  EXECUTE FUNCTION wallet_balance_is_of_ledger();

-- A trigger, because turns, top-ups and refunds move budgets in statements of their own, and operators can too.
-- Deferred, because a workspace that is made again deletes both.
CREATE CONSTRAINT TRIGGER budgets_wallet_gone AFTER DELETE ON budgets DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (old.id LIKE 'wallet:%')
  EXECUTE FUNCTION wallet_balance_is_of_ledger();
