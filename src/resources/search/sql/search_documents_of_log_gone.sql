-- Deletes the documents of deleted events of the log.
CREATE OR REPLACE FUNCTION search_documents_of_log_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents d WHERE d.kind = 'event' AND d.subject = ANY (ARRAY(SELECT 'log-' || g.seq FROM gone g WHERE text_of_event(g.payload) <> ''));
  RETURN NULL;
END $$;

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_log_events_gone AFTER DELETE ON log_events
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_of_log_gone();
