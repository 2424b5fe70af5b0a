-- Opens the wait of a project that paused itself. A project that a person paused waits for nobody.
CREATE OR REPLACE FUNCTION waits_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'paused' AND new.pause_reason <> 'requested' THEN
    PERFORM open_wait('paused', new.id, new.customer_id, new.id, NULL, NULL, NULL, NULL, NULL);
  ELSE
    PERFORM close_wait(new.id);
  END IF;
  RETURN NULL;
END $$;

-- A trigger, because failed steps, budgets, gates, recovery and commands pause and resume projects.
CREATE TRIGGER waits_of_project AFTER UPDATE OF status, pause_reason ON projects
  FOR EACH ROW
  WHEN ('paused' IN (old.status, new.status) AND (old.status, old.pause_reason) IS DISTINCT FROM (new.status, new.pause_reason))
  EXECUTE FUNCTION waits_of_project();
