-- Opens the wait of a call whose outcome is unknown, from the statement that finds it lost until it has a result.
CREATE OR REPLACE FUNCTION waits_of_lost_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'pending' THEN
    PERFORM open_wait('lost_effect', new.run_id || '/' || new.call_id, new.customer_id, NULL, NULL, new.run_id, new.call_id, NULL, NULL);
  ELSE
    PERFORM close_wait(new.run_id || '/' || new.call_id);
  END IF;
  RETURN NULL;
END $$;

-- A trigger, because the call is found lost by its workflow and by reconciliation, and ends by an answer or by its
-- result.
CREATE TRIGGER waits_of_lost_call AFTER UPDATE OF lost_at, status ON run_tool_calls
  FOR EACH ROW
  WHEN (new.lost_at IS NOT NULL AND old.status = 'pending' AND (old.lost_at IS NULL OR new.status <> 'pending'))
  EXECUTE FUNCTION waits_of_lost_call();
