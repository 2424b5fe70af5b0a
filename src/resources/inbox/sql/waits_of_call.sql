-- Closes the question of a page that only asks for its call, when the call has a result.
CREATE OR REPLACE FUNCTION waits_of_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits SET settled_at = now()
  WHERE run_id = new.run_id AND call_id = new.call_id AND kind = 'question' AND settled_at IS NULL;
  RETURN NULL;
END $$;

-- A trigger, because a call ends by its answer, by its time limit, by a failure and by reconciliation.
CREATE TRIGGER waits_of_call AFTER UPDATE OF status ON run_tool_calls
  FOR EACH ROW
  WHEN (new.tool = 'ask_human' AND old.status = 'pending' AND new.status <> 'pending')
  EXECUTE FUNCTION waits_of_call();
