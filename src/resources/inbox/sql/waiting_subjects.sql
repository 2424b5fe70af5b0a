-- Derives the open waits from the tables that wait. Tests hold the open rows of `waits` against it.
CREATE OR REPLACE VIEW waiting_subjects AS
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
