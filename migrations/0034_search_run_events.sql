CREATE INDEX "projects_by_time" ON "projects" USING btree ("customer_id","created_at","seq");--> statement-breakpoint
-- By hand: what went wrong on the way of a run, which may have succeeded all the same, can be searched: a tool that failed, a call of a
-- model that was tried again or cut off. Everything else that a timeline says is in the run's own document, or is said of every run.
CREATE FUNCTION "title_of_run_event"(event_type run_event_type, status text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT replace(replace(event_type::text, 'claude_', 'model_'), '_', ' ') || ' ' || status;
$$;--> statement-breakpoint
-- The preview of a result is the beginning of its JSON, so that it cannot be read as JSON.
CREATE FUNCTION "text_of_run_event"(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT concat_ws(': ', coalesce(payload ->> 'tool', payload ->> 'code'), payload ->> 'error',
    regexp_replace(regexp_replace(payload ->> 'result_preview', '^\{"error":"|"\}$', '', 'g'), '\\[nrt"]', ' ', 'g'));
$$;--> statement-breakpoint
CREATE FUNCTION "search_words_of"(e run_events) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(e.customer_id, 'event', NULL, (SELECT r.agent FROM runs r WHERE r.id = e.run_id))
    || search_words(title_of_run_event(e.event_type, e.status), 'B') || search_words(text_of_run_event(e.payload), 'B');
$$;--> statement-breakpoint
-- Its document is `log-r<id>`: processes of the release before take it for one of the log that is gone, and leave it out.
CREATE FUNCTION "search_document_of_run_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_documents VALUES ('event', 'log-r' || new.id, new.customer_id, new.ts, search_words_of(new));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "search_document_of_run_event_gone"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE kind = 'event' AND subject = 'log-r' || old.id;
  RETURN NULL;
END $$;--> statement-breakpoint
-- These are rare, and told by columns of the row: a run without them pays for a comparison for each event.
CREATE TRIGGER "search_new_run_event" AFTER INSERT ON "run_events" FOR EACH ROW
  WHEN (new.status IN ('failed', 'aborted') AND new.event_type IN ('tool_result', 'claude_request')) EXECUTE FUNCTION "search_document_of_run_event"();--> statement-breakpoint
CREATE TRIGGER "search_run_event_gone" AFTER DELETE ON "run_events" FOR EACH ROW
  WHEN (old.status IN ('failed', 'aborted') AND old.event_type IN ('tool_result', 'claude_request')) EXECUTE FUNCTION "search_document_of_run_event_gone"();--> statement-breakpoint
INSERT INTO "search_backfills" ("source", "up_to") SELECT 'run_events', max(id)::text FROM run_events HAVING max(id) IS NOT NULL;
