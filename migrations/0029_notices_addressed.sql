CREATE INDEX "output_deliveries_to_address" ON "output_deliveries" USING btree ("id") WHERE "output_deliveries"."status" = 'pending' and "output_deliveries"."due_at" = 'infinity';--> statement-breakpoint
-- By hand: one row a destination. Whom mails go to is looked up afterwards (`addressNotices`), as whoever opens or settles a wait
-- holds its project: a process of the release before does not start such a row.
CREATE OR REPLACE FUNCTION "tell_of_wait"() RETURNS trigger LANGUAGE plpgsql AS $$
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
