CREATE TYPE "public"."attempt_reason" AS ENUM('initial', 'manual_retry', 'review_failure', 'cascade_retrigger', 'edit_session', 'manual_rework', 'auto_retry', 'schema_repair', 'crash_recovery');--> statement-breakpoint
CREATE TYPE "public"."attempt_status" AS ENUM('pending', 'running', 'succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."cascade_mode" AS ENUM('lazy', 'strict', 'none');--> statement-breakpoint
CREATE TYPE "public"."event_category" AS ENUM('project', 'task', 'subtask', 'review', 'gate', 'artifact', 'retry', 'cost', 'crash');--> statement-breakpoint
CREATE TYPE "public"."event_level" AS ENUM('debug', 'info', 'warn', 'error');--> statement-breakpoint
CREATE TYPE "public"."gate_kind" AS ENUM('human', 'webhook', 'schedule', 'pipeline_dep');--> statement-breakpoint
CREATE TYPE "public"."pause_reason" AS ENUM('requested', 'subtask_failed', 'gate_rejected', 'gate_misconfigured', 'budget_breached', 'repeat_crash', 'nonidempotent_crash', 'nothing_dispatchable');--> statement-breakpoint
CREATE TYPE "public"."project_status" AS ENUM('planning', 'active', 'paused', 'completed', 'abandoned');--> statement-breakpoint
CREATE TYPE "public"."step_kind" AS ENUM('agent', 'action', 'gate');--> statement-breakpoint
CREATE TYPE "public"."step_role" AS ENUM('producer', 'reviewer', 'tester', 'assembler', 'gatekeeper', 'utility');--> statement-breakpoint
CREATE TYPE "public"."task_kind" AS ENUM('regular', 'edit_session');--> statement-breakpoint
CREATE TYPE "public"."task_status" AS ENUM('pending', 'running', 'blocked', 'review', 'succeeded', 'failed', 'skipped', 'stale');--> statement-breakpoint
CREATE TYPE "public"."template_status" AS ENUM('active', 'archived');--> statement-breakpoint
CREATE TABLE "attachments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"owner_kind" text NOT NULL,
	"owner_id" text NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"file_key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"task_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"phase_slug" text NOT NULL,
	"version" integer NOT NULL,
	"schema_slug" text NOT NULL,
	"content" jsonb NOT NULL,
	"produced_by_subtask_id" uuid,
	"produced_by_attempt_id" uuid,
	"produced_via" "attempt_reason" NOT NULL,
	"superseded" boolean DEFAULT false NOT NULL,
	"supersedes_artifact_id" uuid,
	"superseded_by_artifact_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"task_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"attempt_number" integer NOT NULL,
	"attempt_reason" "attempt_reason" NOT NULL,
	"status" "attempt_status" DEFAULT 'running' NOT NULL,
	"dispatch_key" text,
	"output" jsonb,
	"output_validated" boolean,
	"error" text,
	"is_crashed" boolean DEFAULT false NOT NULL,
	"cost_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"child_run_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	CONSTRAINT "attempts_ended_has_an_end" CHECK (("attempts"."completed_at" is not null) = ("attempts"."status" in ('succeeded', 'failed')))
);
--> statement-breakpoint
CREATE TABLE "project_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"customer_id" text NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"task_id" uuid,
	"subtask_id" uuid,
	"attempt_number" integer,
	"level" "event_level" NOT NULL,
	"category" "event_category" NOT NULL,
	"topic" text NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"payload" jsonb NOT NULL,
	"trace_id" uuid
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"seq" bigserial NOT NULL,
	"customer_id" text NOT NULL,
	"title" text NOT NULL,
	"workflow_slug" text NOT NULL,
	"workflow_version" integer NOT NULL,
	"status" "project_status" DEFAULT 'planning' NOT NULL,
	"pause_reason" "pause_reason",
	"brief" text NOT NULL,
	"params" jsonb,
	"auth_mode" text NOT NULL,
	"cost_budget_usd" numeric(20, 8),
	"cost_warning_threshold" numeric(20, 8) DEFAULT '0.80' NOT NULL,
	"is_cost_warned" boolean DEFAULT false NOT NULL,
	"cost_burst_per_minute_usd" numeric(20, 8),
	"completions" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"abandoned_at" timestamp with time zone,
	CONSTRAINT "projects_paused_for_a_reason" CHECK (("projects"."pause_reason" is not null) = ("projects"."status" = 'paused')),
	CONSTRAINT "projects_abandoned_once" CHECK (("projects"."abandoned_at" is not null) = ("projects"."status" = 'abandoned')),
	CONSTRAINT "projects_completed_has_an_end" CHECK ("projects"."status" <> 'completed' or "projects"."completed_at" is not null)
);
--> statement-breakpoint
CREATE TABLE "subtasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"task_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"position" integer NOT NULL,
	"step_slug" text NOT NULL,
	"title" text NOT NULL,
	"kind" "step_kind" NOT NULL,
	"role" "step_role" NOT NULL,
	"status" "task_status" DEFAULT 'pending' NOT NULL,
	"assignee" text,
	"instructions" text,
	"tools" text[] DEFAULT '{}' NOT NULL,
	"skills" text[] DEFAULT '{}' NOT NULL,
	"depends_on" text[] DEFAULT '{}' NOT NULL,
	"output_schema" jsonb,
	"max_attempts" integer NOT NULL,
	"timeout_s" integer,
	"gate_kind" "gate_kind",
	"gate_config" jsonb,
	"gate_output" jsonb,
	"feedback" text[] DEFAULT '{}' NOT NULL,
	"addendum" text,
	"next_reason" "attempt_reason",
	"attempts_used" integer DEFAULT 0 NOT NULL,
	"crashes" integer DEFAULT 0 NOT NULL,
	"is_outcome_unknown" boolean DEFAULT false NOT NULL,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"customer_id" text NOT NULL,
	"position" integer NOT NULL,
	"phase_slug" text NOT NULL,
	"title" text NOT NULL,
	"task_kind" "task_kind" DEFAULT 'regular' NOT NULL,
	"status" "task_status" DEFAULT 'pending' NOT NULL,
	"depends_on" text[] DEFAULT '{}' NOT NULL,
	"cascade_on_upstream_change" "cascade_mode" DEFAULT 'lazy' NOT NULL,
	"artifact_schema_slug" text,
	"artifact_json_schema" jsonb,
	"artifact_step_slug" text,
	"iteration" integer DEFAULT 0 NOT NULL,
	"next_reason" "attempt_reason" DEFAULT 'initial' NOT NULL,
	"addenda" text[] DEFAULT '{}' NOT NULL,
	"on_end" text,
	"cost_budget_usd" numeric(20, 8),
	"instruction" text,
	"cascade_mode" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "templates" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text,
	"slug" text NOT NULL,
	"version" integer NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"collection" text,
	"tags" text[] DEFAULT '{}' NOT NULL,
	"spec" jsonb NOT NULL,
	"phase_count" integer NOT NULL,
	"status" "template_status" DEFAULT 'active' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "templates_once_per_version" UNIQUE NULLS NOT DISTINCT("customer_id","slug","version"),
	CONSTRAINT "templates_version_positive" CHECK ("templates"."version" >= 1)
);
--> statement-breakpoint
ALTER TABLE "budgets" ALTER COLUMN "limit_usd" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "attempt_id" uuid;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "step" jsonb;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_events" ADD CONSTRAINT "project_events_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attachments_by_owner" ON "attachments" USING btree ("customer_id","owner_kind","owner_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_numbered" ON "artifacts" USING btree ("task_id","version");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_one_current_per_phase" ON "artifacts" USING btree ("task_id") WHERE not "artifacts"."superseded";--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_once_per_attempt" ON "artifacts" USING btree ("produced_by_attempt_id") WHERE "artifacts"."produced_by_attempt_id" is not null and "artifacts"."produced_via" <> 'edit_session';--> statement-breakpoint
CREATE INDEX "artifacts_by_project" ON "artifacts" USING btree ("project_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_numbered" ON "attempts" USING btree ("subtask_id","attempt_number");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_once_per_dispatch" ON "attempts" USING btree ("subtask_id","dispatch_key");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_one_open_per_step" ON "attempts" USING btree ("subtask_id") WHERE "attempts"."status" in ('pending', 'running');--> statement-breakpoint
CREATE INDEX "attempts_by_project" ON "attempts" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "attempts_by_task" ON "attempts" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "project_events_by_time" ON "project_events" USING btree ("customer_id","ts");--> statement-breakpoint
CREATE INDEX "project_events_by_project" ON "project_events" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "project_events_by_subtask" ON "project_events" USING btree ("subtask_id","id") WHERE "project_events"."subtask_id" is not null;--> statement-breakpoint
CREATE INDEX "projects_by_workspace" ON "projects" USING btree ("customer_id","seq");--> statement-breakpoint
CREATE INDEX "projects_by_status" ON "projects" USING btree ("customer_id","status","seq");--> statement-breakpoint
CREATE INDEX "projects_by_template" ON "projects" USING btree ("customer_id","workflow_slug","seq");--> statement-breakpoint
CREATE INDEX "projects_planning" ON "projects" USING btree ("created_at") WHERE "projects"."status" = 'planning';--> statement-breakpoint
CREATE UNIQUE INDEX "subtasks_once_per_step" ON "subtasks" USING btree ("task_id","step_slug");--> statement-breakpoint
CREATE INDEX "subtasks_by_task" ON "subtasks" USING btree ("task_id","position");--> statement-breakpoint
CREATE INDEX "subtasks_by_project" ON "subtasks" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "subtasks_webhook_gates" ON "subtasks" USING btree ("customer_id","status") WHERE "subtasks"."gate_kind" = 'webhook';--> statement-breakpoint
CREATE INDEX "subtasks_waiting_for_projects" ON "subtasks" USING btree ("customer_id",(gate_config ->> 'project_id')) WHERE "subtasks"."gate_kind" = 'pipeline_dep' and "subtasks"."status" = 'blocked';--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_once_per_phase" ON "tasks" USING btree ("project_id","phase_slug");--> statement-breakpoint
CREATE INDEX "tasks_by_project" ON "tasks" USING btree ("project_id","position");--> statement-breakpoint
CREATE INDEX "templates_by_slug" ON "templates" USING btree ("slug","version");