CREATE TYPE "public"."wait_kind" AS ENUM('gate', 'plan', 'webhook_gate', 'question', 'paused', 'lost_effect');--> statement-breakpoint
CREATE TYPE "public"."way_of_answer" AS ENUM('inbox', 'link', 'api_key', 'page', 'signal', 'timeout', 'elsewhere');--> statement-breakpoint
CREATE TABLE "wait_votes" (
	"wait_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"revision" integer NOT NULL,
	"voter" text NOT NULL,
	"answer" text NOT NULL,
	"comment" text,
	"via" "way_of_answer" NOT NULL,
	"voted_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "wait_votes_wait_id_revision_voter_pk" PRIMARY KEY("wait_id","revision","voter")
);
--> statement-breakpoint
CREATE TABLE "waits" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"customer_id" text NOT NULL,
	"kind" "wait_kind" NOT NULL,
	"subject" text NOT NULL,
	"project_id" text,
	"subtask_id" uuid,
	"run_id" text,
	"call_id" text,
	"revision" integer NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"due_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"settled_at" timestamp with time zone,
	"answer" text,
	"settled_by" text,
	"settled_via" "way_of_answer",
	"comment" text,
	CONSTRAINT "waits_answered_by_somebody" CHECK ("waits"."answer" is null or ("waits"."settled_at" is not null and "waits"."settled_by" is not null))
);
--> statement-breakpoint
ALTER TABLE "wait_votes" ADD CONSTRAINT "wait_votes_wait_id_waits_id_fk" FOREIGN KEY ("wait_id") REFERENCES "public"."waits"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "waits_one_open_per_subject" ON "waits" USING btree ("subject") WHERE "waits"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "waits_by_subject" ON "waits" USING btree ("subject","revision");--> statement-breakpoint
CREATE INDEX "waits_open" ON "waits" USING btree ("customer_id","opened_at","id") WHERE "waits"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "waits_settled" ON "waits" USING btree ("customer_id","settled_at","id") WHERE "waits"."settled_at" is not null;--> statement-breakpoint
CREATE INDEX "waits_by_project" ON "waits" USING btree ("project_id","settled_at");--> statement-breakpoint
CREATE INDEX "waits_by_subtask" ON "waits" USING btree ("subtask_id");--> statement-breakpoint
CREATE INDEX "waits_by_run" ON "waits" USING btree ("run_id") WHERE "waits"."run_id" is not null;--> statement-breakpoint
-- A subject begins to wait, or waits for something else than before. Its revisions go on counting, so that what was seen
-- of an earlier wait is never taken for what is there now.
CREATE FUNCTION "open_wait"(of_kind wait_kind, of_subject text, of_customer text, of_project text, of_subtask uuid, of_run text, of_call text, due timestamptz, expires timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO waits AS w (customer_id, kind, subject, project_id, subtask_id, run_id, call_id, revision, due_at, expires_at)
  SELECT of_customer, of_kind, of_subject, of_project, of_subtask, of_run, of_call,
    coalesce((SELECT max(e.revision) FROM waits e WHERE e.subject = of_subject), 0) + 1, due, expires
  ON CONFLICT (subject) WHERE settled_at IS NULL DO UPDATE SET revision = w.revision + 1;
$$;--> statement-breakpoint
-- What it waited for is over. One that was answered in the statement before this trigger is closed already.
CREATE FUNCTION "close_wait"(of_subject text) RETURNS void LANGUAGE sql AS $$
  UPDATE waits SET settled_at = now() WHERE subject = of_subject AND settled_at IS NULL;
$$;--> statement-breakpoint
CREATE FUNCTION "waits_of_gate"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'blocked' THEN
    PERFORM open_wait(
      CASE WHEN new.gate_kind = 'webhook' THEN 'webhook_gate'::wait_kind
        WHEN (SELECT t.task_kind FROM tasks t WHERE t.id = new.task_id) = 'edit_session' THEN 'plan' ELSE 'gate' END,
      new.id::text, new.customer_id, new.project_id, new.id, NULL, NULL,
      now() + coalesce(new.gate_config ->> 'due_in_s', new.gate_config ->> 'expires_in_s')::float8 * interval '1 s', NULL);
  ELSE
    PERFORM close_wait(new.id::text);
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_gate" AFTER UPDATE OF "status" ON "subtasks" FOR EACH ROW
  WHEN (new.gate_kind IN ('human', 'webhook') AND old.status IS DISTINCT FROM new.status AND 'blocked' IN (old.status, new.status))
  EXECUTE FUNCTION "waits_of_gate"();--> statement-breakpoint
-- A project that a person paused waits for nobody.
CREATE FUNCTION "waits_of_project"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'paused' AND new.pause_reason <> 'requested' THEN
    PERFORM open_wait('paused', new.id, new.customer_id, new.id, NULL, NULL, NULL, NULL, NULL);
  ELSE
    PERFORM close_wait(new.id);
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_project" AFTER UPDATE OF "status", "pause_reason" ON "projects" FOR EACH ROW
  WHEN ('paused' IN (old.status, new.status) AND (old.status, old.pause_reason) IS DISTINCT FROM (new.status, new.pause_reason))
  EXECUTE FUNCTION "waits_of_project"();--> statement-breakpoint
-- A page is a question for as long as it takes an answer.
CREATE FUNCTION "waits_of_page"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.submitted_at IS NULL THEN
    PERFORM open_wait('question', new.id, new.customer_id,
      (SELECT a.project_id FROM runs r JOIN attempts a ON a.id = r.attempt_id WHERE r.id = new.run_id),
      NULL, new.run_id, new.call_id, NULL, new.expires_at);
  ELSE
    PERFORM close_wait(new.id);
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_new_page" AFTER INSERT ON "miniapp_pages" FOR EACH ROW EXECUTE FUNCTION "waits_of_page"();--> statement-breakpoint
CREATE TRIGGER "waits_of_submitted_page" AFTER UPDATE OF "submitted_at" ON "miniapp_pages" FOR EACH ROW
  WHEN (old.submitted_at IS NULL AND new.submitted_at IS NOT NULL) EXECUTE FUNCTION "waits_of_page"();--> statement-breakpoint
-- A page that only asks for its call closes with the call, and with the run.
CREATE FUNCTION "waits_of_call"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits SET settled_at = now()
  WHERE run_id = new.run_id AND call_id = new.call_id AND kind = 'question' AND settled_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_call" AFTER UPDATE OF "status" ON "run_tool_calls" FOR EACH ROW
  WHEN (new.tool = 'ask_human' AND old.status = 'pending' AND new.status <> 'pending') EXECUTE FUNCTION "waits_of_call"();--> statement-breakpoint
CREATE FUNCTION "waits_of_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET settled_at = now() FROM miniapp_pages p
  WHERE w.run_id = new.id AND w.settled_at IS NULL AND p.id = w.subject AND p.tool = 'ask_human';
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_run" AFTER UPDATE OF "status" ON "runs" FOR EACH ROW
  WHEN (old.status IN ('queued', 'running') AND new.status NOT IN ('queued', 'running')) EXECUTE FUNCTION "waits_of_run"();--> statement-breakpoint
-- What was seen of a gate are the artifacts that its phase was given; of a plan those of the whole project.
CREATE FUNCTION "waits_of_artifact"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET revision = w.revision + 1
  FROM subtasks s JOIN tasks t ON t.id = s.task_id
  WHERE w.project_id = new.project_id AND w.settled_at IS NULL AND s.id = w.subtask_id
    AND (new.phase_slug = ANY (t.depends_on) OR w.kind = 'plan');
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "waits_of_new_artifact" AFTER INSERT ON "artifacts" FOR EACH ROW
  WHEN (NOT new.superseded) EXECUTE FUNCTION "waits_of_artifact"();--> statement-breakpoint
CREATE TRIGGER "waits_of_chosen_artifact" AFTER UPDATE OF "superseded" ON "artifacts" FOR EACH ROW
  WHEN (old.superseded AND NOT new.superseded) EXECUTE FUNCTION "waits_of_artifact"();--> statement-breakpoint
-- What waits, and takes an answer, by what it is about: what the open rows of `waits` are held against.
CREATE VIEW "waiting_subjects" AS
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
    AND (p.tool <> 'ask_human' OR (c.status = 'pending' AND r.status IN ('queued', 'running')));--> statement-breakpoint
INSERT INTO "waits" ("customer_id", "kind", "subject", "project_id", "subtask_id", "run_id", "call_id", "revision", "opened_at", "due_at", "expires_at")
SELECT v.customer_id, v.kind, v.subject, v.project_id, v.subtask_id, v.run_id, v.call_id, 1, coalesce(v.since, (
    SELECT max(e.ts) FROM project_events e WHERE e.project_id = v.project_id AND e.topic = 'project_paused'), now()), v.due_at, v.expires_at
FROM "waiting_subjects" v;
