-- Tells a workspace once a day that a run used a model without a price, whose cost is not counted.
CREATE OR REPLACE FUNCTION note_unpriced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH noted AS (
    INSERT INTO spending_notices (customer_id, key, topic, run_id)
    VALUES (new.customer_id, 'unpriced/' || (now() at time zone 'utc')::date, 'unpriced', new.id) ON CONFLICT DO NOTHING RETURNING 1
  )
  INSERT INTO log_events (customer_id, kind, topic, subject, run_id, payload)
  SELECT new.customer_id, 'spending', 'unpriced', new.id, new.id, jsonb_build_object('model', new.model) FROM noted;
  RETURN NULL;
END $$;

-- A trigger, because the statements that book the usage of a turn belong to the resource of runs, which knows nothing
-- of notices.
CREATE TRIGGER note_unpriced AFTER UPDATE OF is_priced ON runs
  FOR EACH ROW
  WHEN (old.is_priced AND NOT new.is_priced)
  EXECUTE FUNCTION note_unpriced();
