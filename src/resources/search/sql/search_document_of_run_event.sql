-- Writes the document of what went wrong in a run that may have succeeded all the same: a tool that failed, a model
-- call that was retried or cut off. Everything else that a timeline says is in the document of the run, or is said of
-- every run.
CREATE OR REPLACE FUNCTION search_document_of_run_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_documents VALUES ('event', 'log-r' || new.id, new.customer_id, new.ts, search_words_of(new));
  RETURN NULL;
END $$;

-- A trigger, because every activity of a run writes events. These are rare and told by columns of the row, so other
-- events pay for one comparison.
CREATE TRIGGER search_new_run_event AFTER INSERT ON run_events
  FOR EACH ROW
  WHEN (new.status IN ('failed', 'aborted') AND new.event_type IN ('tool_result', 'claude_request'))
  EXECUTE FUNCTION search_document_of_run_event();

-- Deletes the document of a deleted run event.
CREATE OR REPLACE FUNCTION search_document_of_run_event_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE kind = 'event' AND subject = 'log-r' || old.id;
  RETURN NULL;
END $$;

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_run_event_gone AFTER DELETE ON run_events
  FOR EACH ROW
  WHEN (old.status IN ('failed', 'aborted') AND old.event_type IN ('tool_result', 'claude_request'))
  EXECUTE FUNCTION search_document_of_run_event_gone();
