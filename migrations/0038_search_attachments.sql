-- By hand: what was attached to a project, a scheduled job or a conversation is found by its name. An upload waits for its project, and is
-- found when it has one.
CREATE FUNCTION "search_words_of"(f attachments) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(f.customer_id, 'file', NULL, NULL) || search_words(f.id::text, 'A') || search_words(f.filename, 'A');
$$;--> statement-breakpoint
CREATE FUNCTION "search_document_of_row_gone"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE kind = TG_ARGV[0] AND subject = new.id::text;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "search_new_attachment" AFTER INSERT ON "attachments" FOR EACH ROW
  WHEN (new.owner_kind <> 'upload') EXECUTE FUNCTION "search_document_of_row"('file');--> statement-breakpoint
CREATE TRIGGER "search_taken_attachment" AFTER UPDATE OF "owner_kind" ON "attachments" FOR EACH ROW
  WHEN (new.owner_kind <> 'upload') EXECUTE FUNCTION "search_document_of_row"('file');--> statement-breakpoint
CREATE TRIGGER "search_released_attachment" AFTER UPDATE OF "owner_kind" ON "attachments" FOR EACH ROW
  WHEN (new.owner_kind = 'upload') EXECUTE FUNCTION "search_document_of_row_gone"('file');--> statement-breakpoint
CREATE TRIGGER "search_attachments_gone" AFTER DELETE ON "attachments" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_gone"('file');--> statement-breakpoint
INSERT INTO "search_backfills" ("source", "up_to")
  SELECT 'attachments', (SELECT id::text FROM attachments ORDER BY id DESC LIMIT 1) WHERE EXISTS (SELECT FROM attachments);
