-- Writes the document of a new or changed row. The argument is the kind of the document.
CREATE OR REPLACE FUNCTION search_document_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'project_events' THEN
    INSERT INTO search_documents VALUES ('event', new.id::text, new.customer_id, new.ts, search_words_of_event(new.customer_id, new.topic, new.payload));
  ELSIF TG_TABLE_NAME = 'log_events' THEN
    INSERT INTO search_documents VALUES ('event', 'log-' || new.seq, new.customer_id, new.ts, search_words_of_event(new.customer_id, new.topic, new.payload));
  ELSE
    INSERT INTO search_documents VALUES (TG_ARGV[0], new.id::text, new.customer_id, new.created_at, search_words_of(new))
    ON CONFLICT (kind, subject) DO UPDATE SET words = excluded.words;
  END IF;
  RETURN NULL;
END $$;

-- A trigger, because the resource of runs accepts them in several statements and knows nothing of the search: a
-- document that is not made in the same statement would be missing.
CREATE TRIGGER search_new_run AFTER INSERT ON runs
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('run');

-- A trigger, because a run ends in several ways. A run is written often while it works: its document is made with it,
-- and again when it ends.
CREATE TRIGGER search_changed_run AFTER UPDATE OF agent, completed_at ON runs
  FOR EACH ROW
  WHEN ((old.agent, old.completed_at) IS DISTINCT FROM (new.agent, new.completed_at))
  EXECUTE FUNCTION search_document_of_row('run');

-- A trigger, because the resource of projects makes them and knows nothing of the search: a document that is not made
-- in the same statement would be missing.
CREATE TRIGGER search_new_project AFTER INSERT ON projects
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('project');

-- A trigger, because each command and each end of a phase can change the status.
CREATE TRIGGER search_changed_project AFTER UPDATE OF status, title, brief ON projects
  FOR EACH ROW
  WHEN ((old.status, old.title, old.brief) IS DISTINCT FROM (new.status, new.title, new.brief))
  EXECUTE FUNCTION search_document_of_row('project');

-- A trigger, because the engine of projects makes artifacts and knows nothing of the search: a document that is not
-- made in the same statement would be missing.
CREATE TRIGGER search_new_artifact AFTER INSERT ON artifacts
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('artifact');

-- A trigger, because the resource of runs stores the files of tools and knows nothing of the search: a document that is
-- not made in the same statement would be missing.
CREATE TRIGGER search_new_file AFTER INSERT ON run_artifacts
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('file');

-- A trigger, because every command and every step of a project writes events and knows nothing of the search: a
-- document that is not made in the same statement would be missing.
CREATE TRIGGER search_new_event AFTER INSERT ON project_events
  FOR EACH ROW
  WHEN (text_of_event(new.payload) <> '')
  EXECUTE FUNCTION search_document_of_row('event');

-- A trigger, because triggers and statements of many resources write events, and a document that is not made in the
-- same statement would be missing from the search.
CREATE TRIGGER search_new_log_event AFTER INSERT ON log_events
  FOR EACH ROW
  WHEN (text_of_event(new.payload) <> '')
  EXECUTE FUNCTION search_document_of_row('event');

-- A trigger, because the resource of attachments stores them and knows nothing of the search: a document that is not
-- made in the same statement would be missing. An upload that belongs to nothing yet has no document.
CREATE TRIGGER search_new_attachment AFTER INSERT ON attachments
  FOR EACH ROW
  WHEN (new.owner_kind <> 'upload')
  EXECUTE FUNCTION search_document_of_row('file');

-- A trigger, because a new project takes its uploads over, in a statement of the resource of projects.
CREATE TRIGGER search_taken_attachment AFTER UPDATE OF owner_kind ON attachments
  FOR EACH ROW
  WHEN (new.owner_kind <> 'upload')
  EXECUTE FUNCTION search_document_of_row('file');
