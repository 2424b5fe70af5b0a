-- Revises the waits whose subject a person saw with an older artifact: gates of phases that depend on its phase, and
-- plans of the project.
CREATE OR REPLACE FUNCTION waits_of_artifact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET revision = w.revision + 1
  FROM subtasks s JOIN tasks t ON t.id = s.task_id
  WHERE w.project_id = new.project_id AND w.settled_at IS NULL AND s.id = w.subtask_id
    AND (new.phase_slug = ANY (t.depends_on) OR w.kind = 'plan');
  RETURN NULL;
END $$;

-- A trigger, because phases, edit sessions and changes by hand make artifacts.
CREATE TRIGGER waits_of_new_artifact AFTER INSERT ON artifacts
  FOR EACH ROW
  WHEN (NOT new.superseded)
  EXECUTE FUNCTION waits_of_artifact();

-- A trigger, because reverts and retriggers choose another version.
CREATE TRIGGER waits_of_chosen_artifact AFTER UPDATE OF superseded ON artifacts
  FOR EACH ROW
  WHEN (old.superseded AND NOT new.superseded)
  EXECUTE FUNCTION waits_of_artifact();
