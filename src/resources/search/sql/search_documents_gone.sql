-- Deletes the documents of deleted rows. The argument is the kind of the documents.
CREATE OR REPLACE FUNCTION search_documents_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents d WHERE d.kind = TG_ARGV[0] AND d.subject = ANY (ARRAY(SELECT g.id::text FROM gone g));
  RETURN NULL;
END $$;

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_runs_gone AFTER DELETE ON runs
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('run');

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_projects_gone AFTER DELETE ON projects
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('project');

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_artifacts_gone AFTER DELETE ON artifacts
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('artifact');

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_files_gone AFTER DELETE ON run_artifacts
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('file');

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_attachments_gone AFTER DELETE ON attachments
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('file');

-- A trigger, because deletions cascade, and retention and workspaces that end delete too.
CREATE TRIGGER search_events_gone AFTER DELETE ON project_events
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('event');
