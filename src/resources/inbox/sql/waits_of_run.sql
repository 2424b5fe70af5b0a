-- Closes what a run waited for when the run ends.
CREATE OR REPLACE FUNCTION waits_of_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET settled_at = now()
  WHERE w.run_id = new.id AND w.settled_at IS NULL AND (w.kind = 'lost_effect' OR EXISTS (
    SELECT FROM miniapp_pages p WHERE p.id = w.subject AND p.tool = 'ask_human'));
  RETURN NULL;
END $$;

-- A trigger, because a run ends in its last turn, by cancellation, by reconciliation and with its workspace.
CREATE TRIGGER waits_of_run AFTER UPDATE OF status ON runs
  FOR EACH ROW
  WHEN (old.status IN ('queued', 'running') AND new.status NOT IN ('queued', 'running'))
  EXECUTE FUNCTION waits_of_run();
