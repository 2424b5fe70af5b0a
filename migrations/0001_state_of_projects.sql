-- What stops a project and who changed an artifact were read from its events, which retention deletes.
ALTER TABLE "artifacts" ADD COLUMN "changed_by" text;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "paused_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "stop" jsonb;--> statement-breakpoint
UPDATE projects p SET paused_at = coalesce((
  SELECT max(e.ts) FROM project_events e WHERE e.project_id = p.id AND e.topic = 'project_paused'), now())
WHERE p.status = 'paused';--> statement-breakpoint
UPDATE artifacts v SET changed_by = (
  SELECT e.actor_id FROM project_events e
  WHERE e.project_id = v.project_id AND e.task_id = v.task_id
    AND e.topic IN ('artifact_promoted', 'artifact_reverted', 'artifact_set_manually')
  ORDER BY e.id DESC LIMIT 1)
WHERE NOT v.superseded;--> statement-breakpoint
UPDATE subtasks s SET stop = stopped.stop FROM (
  SELECT DISTINCT ON (e.subtask_id) e.subtask_id, jsonb_strip_nulls(jsonb_build_object('run_id', a.child_run_id,
    'needs_usd', e.payload -> 'needs_usd', 'charge_usd', e.payload -> 'charge_usd')) AS stop
  FROM projects p JOIN project_events e ON e.project_id = p.id
    JOIN attempts a ON a.subtask_id = e.subtask_id AND a.attempt_number = e.attempt_number
  WHERE p.status = 'paused' AND e.topic = 'cost_budget_breached' AND a.child_run_id IS NOT NULL AND e.id > coalesce((
    SELECT max(o.id) FROM project_events o WHERE o.project_id = p.id AND o.topic = 'project_started'), 0)
  ORDER BY e.subtask_id, e.id DESC) stopped
WHERE s.id = stopped.subtask_id AND s.status = 'pending';
