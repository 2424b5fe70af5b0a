-- Tells the followers of a workspace of a wait, in the statement that opens, revises or settles it. The event does not
-- say what the wait is about, only where to look it up.
CREATE OR REPLACE FUNCTION log_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log_events (customer_id, kind, topic, subject, run_id, project_id, payload)
  VALUES (new.customer_id, 'wait',
    CASE WHEN TG_OP = 'INSERT' THEN 'opened' WHEN new.settled_at IS NULL THEN 'revised' ELSE 'settled' END,
    new.id::text, new.run_id, new.project_id,
    jsonb_build_object('kind', new.kind, 'revision', new.revision)
      || CASE WHEN new.settled_at IS NULL THEN '{}'::jsonb
        ELSE jsonb_build_object('answer', new.answer, 'settled_by', new.settled_by, 'settled_via', new.settled_via) END);
  RETURN NULL;
END $$;

-- A trigger, because triggers of five tables open waits.
CREATE TRIGGER log_opened_wait AFTER INSERT ON waits
  FOR EACH ROW
  WHEN (new.settled_at IS NULL)
  EXECUTE FUNCTION log_wait();

-- A trigger, because answers, links, time-outs and triggers of five tables revise and settle waits.
CREATE TRIGGER log_changed_wait AFTER UPDATE OF revision, settled_at ON waits
  FOR EACH ROW
  WHEN (old.settled_at IS NULL AND (old.revision, old.settled_at) IS DISTINCT FROM (new.revision, new.settled_at))
  EXECUTE FUNCTION log_wait();
