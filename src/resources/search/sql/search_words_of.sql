-- Returns the words of the document of a run.
CREATE OR REPLACE FUNCTION search_words_of(r runs) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(r.customer_id, 'run', CASE WHEN r.completed_at IS NULL THEN 'open' ELSE r.status::text END, r.agent)
    || search_words(r.id, 'A') || search_words(r.prompt, 'B') || search_words(r.output, 'C') || search_words(r.error, 'C');
$$;

-- Returns the words of the document of a project.
CREATE OR REPLACE FUNCTION search_words_of(p projects) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(p.customer_id, 'project', p.status::text, NULL)
    || search_words(p.id, 'A') || search_words(p.title, 'A') || search_words(p.brief, 'B') || search_words(p.workflow_slug, 'C');
$$;

-- Returns the words of the document of an artifact.
CREATE OR REPLACE FUNCTION search_words_of(a artifacts) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(a.customer_id, 'artifact', NULL, NULL)
    || search_words(a.id::text, 'A') || search_words(a.phase_slug, 'A') || search_words(a.content #>> '{}', 'B');
$$;

-- Returns the words of a file of a run.
CREATE OR REPLACE FUNCTION search_words_of(f run_artifacts) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(f.customer_id, 'file', NULL, f.agent) || search_words(f.id::text, 'A') || search_words(f.filename, 'A');
$$;

-- Returns the words of an attachment: its name.
CREATE OR REPLACE FUNCTION search_words_of(f attachments) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(f.customer_id, 'file', NULL, NULL) || search_words(f.id::text, 'A') || search_words(f.filename, 'A');
$$;

-- Returns what people and errors say in an event, without its topic.
CREATE OR REPLACE FUNCTION text_of_event(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT concat_ws(' ', payload ->> 'error', payload ->> 'problem', payload ->> 'feedback', payload ->> 'comment', payload ->> 'instruction');
$$;

-- Returns the words of an event of a project or of the log.
CREATE OR REPLACE FUNCTION search_words_of_event(of_customer text, topic text, payload jsonb)
RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(of_customer, 'event', NULL, NULL) || search_words(topic, 'B') || search_words(text_of_event(payload), 'B');
$$;

-- Returns the words for the type of a run event.
CREATE OR REPLACE FUNCTION title_of_run_event(event_type run_event_type, status text)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT replace(replace(event_type::text, 'claude_', 'model_'), '_', ' ') || ' ' || status;
$$;

-- Returns what a run event says of a failure. The preview of a result is the beginning of its JSON, so it cannot be
-- read as JSON.
CREATE OR REPLACE FUNCTION text_of_run_event(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT concat_ws(': ', coalesce(payload ->> 'tool', payload ->> 'code'), payload ->> 'error',
    regexp_replace(regexp_replace(payload ->> 'result_preview', '^\{"error":"|"\}$', '', 'g'), '\\[nrt"]', ' ', 'g'));
$$;

-- Returns the words of a run event.
CREATE OR REPLACE FUNCTION search_words_of(e run_events) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(e.customer_id, 'event', NULL, (SELECT r.agent FROM runs r WHERE r.id = e.run_id))
    || search_words(title_of_run_event(e.event_type, e.status), 'B') || search_words(text_of_run_event(e.payload), 'B');
$$;
