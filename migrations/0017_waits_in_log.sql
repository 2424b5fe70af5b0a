-- By hand: whoever follows a workspace hears of what waits, in the statement that opens, revises or settles it. Nothing is told
-- of what it is about but where to look it up.
CREATE FUNCTION "log_wait"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log_events (customer_id, kind, topic, subject, run_id, project_id, payload)
  VALUES (new.customer_id, 'wait',
    CASE WHEN TG_OP = 'INSERT' THEN 'opened' WHEN new.settled_at IS NULL THEN 'revised' ELSE 'settled' END,
    new.id::text, new.run_id, new.project_id,
    jsonb_build_object('kind', new.kind, 'revision', new.revision)
      || CASE WHEN new.settled_at IS NULL THEN '{}'::jsonb
        ELSE jsonb_build_object('answer', new.answer, 'settled_by', new.settled_by, 'settled_via', new.settled_via) END);
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "log_opened_wait" AFTER INSERT ON "waits" FOR EACH ROW WHEN (new.settled_at IS NULL) EXECUTE FUNCTION "log_wait"();--> statement-breakpoint
CREATE TRIGGER "log_changed_wait" AFTER UPDATE OF "revision", "settled_at" ON "waits" FOR EACH ROW
  WHEN (old.settled_at IS NULL AND (old.revision, old.settled_at) IS DISTINCT FROM (new.revision, new.settled_at))
  EXECUTE FUNCTION "log_wait"();
