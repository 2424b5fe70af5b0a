ALTER TABLE "agents" ADD COLUMN "on_lost_effect" text DEFAULT 'tell' NOT NULL;--> statement-breakpoint
ALTER TABLE "run_tool_calls" ADD COLUMN "lost_at" timestamp with time zone;--> statement-breakpoint
-- By hand: a call that is found lost waits for a person from that statement on, until it has a result, or its run ends.
CREATE FUNCTION "waits_of_lost_call"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'pending' THEN
    PERFORM open_wait('lost_effect', new.run_id || '/' || new.call_id, new.customer_id, NULL, NULL, new.run_id, new.call_id, NULL, NULL);
  ELSE
    PERFORM close_wait(new.run_id || '/' || new.call_id);
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_lost_call" AFTER UPDATE OF "lost_at", "status" ON "run_tool_calls" FOR EACH ROW
  WHEN (new.lost_at IS NOT NULL AND old.status = 'pending' AND (old.lost_at IS NULL OR new.status <> 'pending'))
  EXECUTE FUNCTION "waits_of_lost_call"();--> statement-breakpoint
CREATE OR REPLACE FUNCTION "waits_of_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET settled_at = now()
  WHERE w.run_id = new.id AND w.settled_at IS NULL AND (w.kind = 'lost_effect' OR EXISTS (
    SELECT FROM miniapp_pages p WHERE p.id = w.subject AND p.tool = 'ask_human'));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE VIEW "waiting_subjects" AS
  SELECT CASE WHEN s.gate_kind = 'webhook' THEN 'webhook_gate'::wait_kind WHEN t.task_kind = 'edit_session' THEN 'plan' ELSE 'gate' END AS kind,
    s.id::text AS subject, s.customer_id, s.project_id, s.id AS subtask_id, NULL::text AS run_id, NULL::text AS call_id,
    s.started_at AS since,
    s.started_at + coalesce(s.gate_config ->> 'due_in_s', s.gate_config ->> 'expires_in_s')::float8 * interval '1 s' AS due_at,
    NULL::timestamptz AS expires_at
  FROM subtasks s JOIN tasks t ON t.id = s.task_id WHERE s.gate_kind IN ('human', 'webhook') AND s.status = 'blocked'
  UNION ALL
  SELECT 'paused', p.id, p.customer_id, p.id, NULL, NULL, NULL, NULL, NULL, NULL
  FROM projects p WHERE p.status = 'paused' AND p.pause_reason <> 'requested'
  UNION ALL
  SELECT 'question', p.id, p.customer_id, a.project_id, NULL, p.run_id, p.call_id, p.created_at, NULL, p.expires_at
  FROM miniapp_pages p JOIN runs r ON r.id = p.run_id LEFT JOIN attempts a ON a.id = r.attempt_id
    JOIN run_tool_calls c ON c.run_id = p.run_id AND c.call_id = p.call_id
  WHERE p.submitted_at IS NULL AND p.expires_at > now()
    AND (p.tool <> 'ask_human' OR (c.status = 'pending' AND r.status IN ('queued', 'running')))
  UNION ALL
  SELECT 'lost_effect', c.run_id || '/' || c.call_id, c.customer_id, NULL, NULL, c.run_id, c.call_id, c.lost_at, NULL, NULL
  FROM run_tool_calls c JOIN runs r ON r.id = c.run_id
  WHERE c.lost_at IS NOT NULL AND c.status = 'pending' AND r.status IN ('queued', 'running');
