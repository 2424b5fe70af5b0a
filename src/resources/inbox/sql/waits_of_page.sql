-- Opens the question of a page, which lasts until the page is submitted.
CREATE OR REPLACE FUNCTION waits_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.submitted_at IS NULL THEN
    PERFORM open_wait('question', new.id, new.customer_id,
      (SELECT a.project_id FROM runs r JOIN attempts a ON a.id = r.attempt_id WHERE r.id = new.run_id),
      NULL, new.run_id, new.call_id, NULL, new.expires_at);
  ELSE
    PERFORM close_wait(new.id);
  END IF;
  RETURN NULL;
END $$;

-- A trigger, because every tool that asks a person makes pages.
CREATE TRIGGER waits_of_new_page AFTER INSERT ON miniapp_pages
  FOR EACH ROW
  EXECUTE FUNCTION waits_of_page();

-- A trigger, because a page is submitted at its own address and from the inbox.
CREATE TRIGGER waits_of_submitted_page AFTER UPDATE OF submitted_at ON miniapp_pages
  FOR EACH ROW
  WHEN (old.submitted_at IS NULL AND new.submitted_at IS NOT NULL)
  EXECUTE FUNCTION waits_of_page();
