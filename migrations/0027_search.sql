CREATE TABLE "search_backfills" (
	"source" text PRIMARY KEY NOT NULL,
	"up_to" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "search_documents" (
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"customer_id" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"words" "tsvector" NOT NULL,
	CONSTRAINT "search_documents_kind_subject_pk" PRIMARY KEY("kind","subject")
);
--> statement-breakpoint
CREATE INDEX "search_documents_by_time" ON "search_documents" USING btree ("customer_id","at","subject");--> statement-breakpoint
CREATE INDEX "search_documents_by_word" ON "search_documents" USING gin ("words");--> statement-breakpoint
-- By hand: the words of a text. What would join words to addresses, paths, numbers and tags stands for a space, so that every word is
-- found by itself; src/resources/search/words.ts takes what is asked for apart in the same way.
CREATE FUNCTION "search_words"(of_text text, weight "char") RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT setweight(to_tsvector('simple'::regconfig, translate(left(coalesce(of_text, ''), 50000), './-_:@&<>=?%~+#*\''', '                  ')), weight);
$$;--> statement-breakpoint
-- Marks stand among the words of a document and begin with what no word has, so that one look into the index is of one workspace.
CREATE FUNCTION "search_marks"(of_customer text, of_kind text, status text, agent text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_to_tsvector(array_remove(array['@' || of_customer, '#' || of_kind, '%' || status, '~' || agent], NULL));
$$;--> statement-breakpoint
CREATE FUNCTION "search_words_of"(r runs) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(r.customer_id, 'run', CASE WHEN r.completed_at IS NULL THEN 'open' ELSE r.status::text END, r.agent)
    || search_words(r.id, 'A') || search_words(r.prompt, 'B') || search_words(r.output, 'C') || search_words(r.error, 'C');
$$;--> statement-breakpoint
CREATE FUNCTION "search_words_of"(p projects) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(p.customer_id, 'project', p.status::text, NULL)
    || search_words(p.id, 'A') || search_words(p.title, 'A') || search_words(p.brief, 'B') || search_words(p.workflow_slug, 'C');
$$;--> statement-breakpoint
CREATE FUNCTION "search_words_of"(a artifacts) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(a.customer_id, 'artifact', NULL, NULL)
    || search_words(a.id::text, 'A') || search_words(a.phase_slug, 'A') || search_words(a.content #>> '{}', 'B');
$$;--> statement-breakpoint
CREATE FUNCTION "search_words_of"(f run_artifacts) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(f.customer_id, 'file', NULL, f.agent) || search_words(f.id::text, 'A') || search_words(f.filename, 'A');
$$;--> statement-breakpoint
-- What an event says, beside what it is called.
CREATE FUNCTION "text_of_event"(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT concat_ws(' ', payload ->> 'error', payload ->> 'problem', payload ->> 'feedback', payload ->> 'comment', payload ->> 'instruction');
$$;--> statement-breakpoint
CREATE FUNCTION "search_words_of_event"(of_customer text, topic text, payload jsonb) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(of_customer, 'event', NULL, NULL) || search_words(topic, 'B') || search_words(text_of_event(payload), 'B');
$$;--> statement-breakpoint
CREATE FUNCTION "search_document_of_row"() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;--> statement-breakpoint
CREATE FUNCTION "search_documents_gone"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents d WHERE d.kind = TG_ARGV[0] AND d.subject = ANY (ARRAY(SELECT g.id::text FROM gone g));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "search_documents_of_log_gone"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents d WHERE d.kind = 'event' AND d.subject = ANY (ARRAY(SELECT 'log-' || g.seq FROM gone g WHERE text_of_event(g.payload) <> ''));
  RETURN NULL;
END $$;--> statement-breakpoint
-- A run is written often while it works: its document is made with it, and again where it ends.
CREATE TRIGGER "search_new_run" AFTER INSERT ON "runs" FOR EACH ROW EXECUTE FUNCTION "search_document_of_row"('run');--> statement-breakpoint
CREATE TRIGGER "search_changed_run" AFTER UPDATE OF "agent", "completed_at" ON "runs" FOR EACH ROW
  WHEN ((old.agent, old.completed_at) IS DISTINCT FROM (new.agent, new.completed_at)) EXECUTE FUNCTION "search_document_of_row"('run');--> statement-breakpoint
CREATE TRIGGER "search_new_project" AFTER INSERT ON "projects" FOR EACH ROW EXECUTE FUNCTION "search_document_of_row"('project');--> statement-breakpoint
CREATE TRIGGER "search_changed_project" AFTER UPDATE OF "status", "title", "brief" ON "projects" FOR EACH ROW
  WHEN ((old.status, old.title, old.brief) IS DISTINCT FROM (new.status, new.title, new.brief)) EXECUTE FUNCTION "search_document_of_row"('project');--> statement-breakpoint
CREATE TRIGGER "search_new_artifact" AFTER INSERT ON "artifacts" FOR EACH ROW EXECUTE FUNCTION "search_document_of_row"('artifact');--> statement-breakpoint
CREATE TRIGGER "search_new_file" AFTER INSERT ON "run_artifacts" FOR EACH ROW EXECUTE FUNCTION "search_document_of_row"('file');--> statement-breakpoint
CREATE TRIGGER "search_new_event" AFTER INSERT ON "project_events" FOR EACH ROW
  WHEN (text_of_event(new.payload) <> '') EXECUTE FUNCTION "search_document_of_row"('event');--> statement-breakpoint
CREATE TRIGGER "search_new_log_event" AFTER INSERT ON "log_events" FOR EACH ROW
  WHEN (text_of_event(new.payload) <> '') EXECUTE FUNCTION "search_document_of_row"('event');--> statement-breakpoint
CREATE TRIGGER "search_runs_gone" AFTER DELETE ON "runs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_gone"('run');--> statement-breakpoint
CREATE TRIGGER "search_projects_gone" AFTER DELETE ON "projects" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_gone"('project');--> statement-breakpoint
CREATE TRIGGER "search_artifacts_gone" AFTER DELETE ON "artifacts" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_gone"('artifact');--> statement-breakpoint
CREATE TRIGGER "search_files_gone" AFTER DELETE ON "run_artifacts" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_gone"('file');--> statement-breakpoint
CREATE TRIGGER "search_events_gone" AFTER DELETE ON "project_events" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_gone"('event');--> statement-breakpoint
CREATE TRIGGER "search_log_events_gone" AFTER DELETE ON "log_events" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "search_documents_of_log_gone"();--> statement-breakpoint
-- What is there already is taken up by housekeeping, in batches. Of the log only few events say anything.
INSERT INTO "search_backfills" ("source", "up_to")
  SELECT 'runs', max(id) FROM runs HAVING count(*) > 0 UNION ALL
  SELECT 'projects', max(id) FROM projects HAVING count(*) > 0 UNION ALL
  SELECT 'artifacts', (SELECT id::text FROM artifacts ORDER BY id DESC LIMIT 1) WHERE EXISTS (SELECT FROM artifacts) UNION ALL
  SELECT 'run_artifacts', (SELECT id::text FROM run_artifacts ORDER BY id DESC LIMIT 1) WHERE EXISTS (SELECT FROM run_artifacts) UNION ALL
  SELECT 'project_events', max(id)::text FROM project_events HAVING count(*) > 0;--> statement-breakpoint
INSERT INTO "search_documents"
  SELECT 'event', 'log-' || seq, customer_id, ts, search_words_of_event(customer_id, topic, payload) FROM log_events WHERE text_of_event(payload) <> '';
