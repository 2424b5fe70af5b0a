-- Opens a wait of a subject, or revises the open one. Revisions of a subject go on counting, so that what a person saw
-- of an earlier wait is never taken for the current one.
CREATE OR REPLACE FUNCTION open_wait(
  of_kind wait_kind, of_subject text, of_customer text, of_project text, of_subtask uuid, of_run text, of_call
  text, due timestamptz, expires timestamptz
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO waits AS w (customer_id, kind, subject, project_id, subtask_id, run_id, call_id, revision, due_at, expires_at)
  SELECT of_customer, of_kind, of_subject, of_project, of_subtask, of_run, of_call,
    coalesce((SELECT max(e.revision) FROM waits e WHERE e.subject = of_subject), 0) + 1, due, expires
  ON CONFLICT (subject) WHERE settled_at IS NULL DO UPDATE SET revision = w.revision + 1;
$$;

-- Settles the open wait of a subject. A wait that was answered in the statement before the trigger is settled already.
CREATE OR REPLACE FUNCTION close_wait(of_subject text) RETURNS void LANGUAGE sql AS $$
  UPDATE waits SET settled_at = now() WHERE subject = of_subject AND settled_at IS NULL;
$$;
