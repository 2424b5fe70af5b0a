-- Deletes the document of a changed row. The argument is the kind of the document.
CREATE OR REPLACE FUNCTION search_document_of_row_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE kind = TG_ARGV[0] AND subject = new.id::text;
  RETURN NULL;
END $$;

-- A trigger, because a project that is withdrawn gives its uploads back, in a statement of the resource of projects.
CREATE TRIGGER search_released_attachment AFTER UPDATE OF owner_kind ON attachments
  FOR EACH ROW
  WHEN (new.owner_kind = 'upload')
  EXECUTE FUNCTION search_document_of_row_gone('file');
