-- Makes a delivery for each destination that is told of waits, in the statement that opens, revises, escalates, reminds
-- of or settles one, so that none is told twice or not at all; housekeeping starts them. It makes one row a
-- destination, also for mail: who the mails go to is looked up afterwards (`addressNotices`), because the statement
-- that opens or settles a wait holds the lock of its project. A settlement is told to the destinations that were told
-- of the wait.
CREATE OR REPLACE FUNCTION tell_of_wait() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what notice_kind;
  n integer := 1;
BEGIN
  IF TG_OP = 'UPDATE' AND new.settled_at IS NOT NULL THEN
    INSERT INTO output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, due_at)
    SELECT uuid_by_time(), new.customer_id, d.id, new.project_id, new.id, 'settled', n, new.revision,
      CASE d.kind WHEN 'email' THEN 'infinity' ELSE now() END
    FROM output_destinations d
    WHERE d.customer_id = new.customer_id AND d.enabled AND d.waits
      AND EXISTS (SELECT FROM output_deliveries o WHERE o.wait_id = new.id AND o.destination_id = d.id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND new.escalated_at IS DISTINCT FROM old.escalated_at THEN
    what := 'escalated';
  ELSIF TG_OP = 'UPDATE' AND (new.reminders, new.reminders_by_hand) IS DISTINCT FROM (old.reminders, old.reminders_by_hand) THEN
    what := 'reminder';
    n := new.reminders + new.reminders_by_hand;
  ELSE
    what := 'opened';
    n := new.revision;
  END IF;
  INSERT INTO output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, due_at)
  SELECT uuid_by_time(), new.customer_id, d.id, new.project_id, new.id, what, n, new.revision,
    CASE d.kind WHEN 'email' THEN 'infinity' ELSE now() END
  FROM output_destinations d
  WHERE d.customer_id = new.customer_id AND d.enabled AND d.waits AND (d.workflow_slugs IS NULL OR EXISTS (
    SELECT FROM projects p WHERE p.id = new.project_id AND p.workflow_slug = ANY (d.workflow_slugs)))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

-- A trigger, because triggers of five tables open waits.
CREATE TRIGGER tell_of_new_wait AFTER INSERT ON waits
  FOR EACH ROW
  WHEN (new.settled_at IS NULL)
  EXECUTE FUNCTION tell_of_wait();

-- A trigger, because answers, links, time-outs, reminders and triggers of five tables change waits.
CREATE TRIGGER tell_of_changed_wait AFTER UPDATE OF revision, settled_at, escalated_at, reminders, reminders_by_hand ON waits
  FOR EACH ROW
  WHEN (old.settled_at IS NULL AND (old.revision, old.settled_at, old.escalated_at, old.reminders, old.reminders_by_hand)
    IS DISTINCT FROM (new.revision, new.settled_at, new.escalated_at, new.reminders, new.reminders_by_hand))
  EXECUTE FUNCTION tell_of_wait();
