-- Opens the question of a page. The statement that submits the page settles it (`resources/miniapps/store.ts`).
CREATE OR REPLACE FUNCTION waits_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM open_wait('question', new.id, new.customer_id,
    (SELECT a.project_id FROM runs r JOIN attempts a ON a.id = r.attempt_id WHERE r.id = new.run_id),
    NULL, new.run_id, new.call_id, NULL, new.expires_at);
  RETURN NULL;
END $$;

-- A trigger, because every tool that asks a person makes pages.
CREATE TRIGGER waits_of_new_page AFTER INSERT ON miniapp_pages
  FOR EACH ROW
  EXECUTE FUNCTION waits_of_page();
