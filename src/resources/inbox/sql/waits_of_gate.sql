-- Opens the wait of a gate of people or of a webhook when its step is blocked, and closes it when the step leaves that
-- status.
CREATE OR REPLACE FUNCTION waits_of_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'blocked' THEN
    PERFORM open_wait(
      CASE WHEN new.gate_kind = 'webhook' THEN 'webhook_gate'::wait_kind
        WHEN (SELECT t.task_kind FROM tasks t WHERE t.id = new.task_id) = 'edit_session' THEN 'plan' ELSE 'gate' END,
      new.id::text, new.customer_id, new.project_id, new.id, NULL, NULL,
      now() + coalesce(new.gate_config ->> 'due_in_s', new.gate_config ->> 'expires_in_s')::float8 * interval '1 s', NULL);
  ELSE
    PERFORM close_wait(new.id::text);
  END IF;
  RETURN NULL;
END $$;

-- A trigger, because a gate opens and ends in many statements: the begin of a step, answers, time-outs, resets of steps
-- and phases, abandonment and reconciliation. One that forgot it would leave a wait that nobody can answer.
CREATE TRIGGER waits_of_gate AFTER UPDATE OF status ON subtasks
  FOR EACH ROW
  WHEN (new.gate_kind IN ('human', 'webhook') AND old.status IS DISTINCT FROM new.status AND 'blocked' IN (old.status, new.status))
  EXECUTE FUNCTION waits_of_gate();
