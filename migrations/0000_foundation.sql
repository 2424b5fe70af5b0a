CREATE TYPE "public"."run_event_type" AS ENUM('run_received', 'run_started', 'model_resolved', 'context_loaded', 'claude_request', 'claude_iteration', 'tool_call', 'tool_result', 'run_completed', 'run_failed', 'run_cancelled', 'agent_run_started', 'user_feedback');--> statement-breakpoint
CREATE TYPE "public"."run_status" AS ENUM('queued', 'running', 'succeeded', 'failed', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."tool_call_status" AS ENUM('pending', 'succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."tool_effect" AS ENUM('read', 'idempotent', 'irreversible');--> statement-breakpoint
CREATE TYPE "public"."webhook_delivery_status" AS ENUM('pending', 'delivered', 'failed', 'exhausted', 'dropped');--> statement-breakpoint
CREATE TYPE "public"."workspace_plan" AS ENUM('internal', 'free', 'starter_byo', 'starter_hosted', 'pro_byo', 'pro_hosted', 'scale');--> statement-breakpoint
CREATE TYPE "public"."workspace_status" AS ENUM('pending', 'provisioning', 'ready', 'failed', 'archived');--> statement-breakpoint
CREATE TABLE "agent_settings" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"model" text,
	"default_model" text,
	"selection_mode" text,
	"reasoning" boolean,
	"resolver_enforce" boolean,
	"voice" text,
	"avatar_file" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_settings_customer_id_slug_pk" PRIMARY KEY("customer_id","slug")
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"prompt" text NOT NULL,
	"session_prompt" text DEFAULT '' NOT NULL,
	"heartbeat_prompt" text DEFAULT '' NOT NULL,
	"model" text NOT NULL,
	"allowed_tools" text[] DEFAULT '{}' NOT NULL,
	"default_workspace" text,
	"memory_mode" text DEFAULT 'both' NOT NULL,
	"version" text DEFAULT '1' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agents_customer_id_slug_pk" PRIMARY KEY("customer_id","slug")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" serial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"key_hash" text NOT NULL,
	"key_prefix" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "api_keys_key_hash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE TABLE "budgets" (
	"id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"limit_usd" numeric(20, 8) NOT NULL,
	"spent_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"reserved_usd" numeric(20, 8) DEFAULT '0' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cost_reservations" (
	"run_id" text NOT NULL,
	"turn" integer NOT NULL,
	"budget_id" text NOT NULL,
	"amount_usd" numeric(20, 8) NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cost_reservations_run_id_turn_budget_id_pk" PRIMARY KEY("run_id","turn","budget_id")
);
--> statement-breakpoint
CREATE TABLE "run_artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"file_key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"key" text NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"event_type" "run_event_type" NOT NULL,
	"duration_ms" integer,
	"cost_usd" numeric(20, 8),
	"status" text,
	"payload" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_messages" (
	"run_id" text NOT NULL,
	"turn" integer NOT NULL,
	"role" text NOT NULL,
	"content" jsonb NOT NULL,
	CONSTRAINT "run_messages_run_id_turn_role_pk" PRIMARY KEY("run_id","turn","role")
);
--> statement-breakpoint
CREATE TABLE "run_tool_calls" (
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"customer_id" text NOT NULL,
	"turn" integer NOT NULL,
	"position" integer NOT NULL,
	"tool" text NOT NULL,
	"arguments" jsonb NOT NULL,
	"effect" "tool_effect" NOT NULL,
	"status" "tool_call_status" DEFAULT 'pending' NOT NULL,
	"result" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone,
	CONSTRAINT "run_tool_calls_run_id_call_id_pk" PRIMARY KEY("run_id","call_id")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"seq" bigserial NOT NULL,
	"customer_id" text NOT NULL,
	"parent_run_id" text,
	"parent_call_id" text,
	"depth" integer DEFAULT 0 NOT NULL,
	"agent" text,
	"transport" text NOT NULL,
	"prompt" text NOT NULL,
	"thread_id" text,
	"channel_id" text,
	"conversation" text,
	"override" jsonb,
	"status" "run_status" DEFAULT 'queued' NOT NULL,
	"output" text,
	"error" text,
	"model" text,
	"model_provider" text,
	"context_window" integer,
	"reasoning" boolean,
	"model_tier" text DEFAULT 'unknown' NOT NULL,
	"model_rule" text DEFAULT 'unresolved' NOT NULL,
	"model_enforce" boolean DEFAULT false NOT NULL,
	"turn_count" integer DEFAULT 0 NOT NULL,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"is_priced" boolean DEFAULT true NOT NULL,
	"budget_ids" text[] DEFAULT '{}' NOT NULL,
	"event_count" integer DEFAULT 0 NOT NULL,
	"last_event_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_event_type" "run_event_type" DEFAULT 'run_received' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	CONSTRAINT "runs_ended_has_an_end" CHECK (("runs"."completed_at" is not null) = ("runs"."status" in ('succeeded', 'failed', 'cancelled')))
);
--> statement-breakpoint
CREATE TABLE "usage_counters" (
	"customer_id" text NOT NULL,
	"resource" text NOT NULL,
	"day" text NOT NULL,
	"used" integer NOT NULL,
	CONSTRAINT "usage_counters_customer_id_resource_day_pk" PRIMARY KEY("customer_id","resource","day")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"subscription_id" integer NOT NULL,
	"event_type" text NOT NULL,
	"event_key" text NOT NULL,
	"body" text NOT NULL,
	"status" "webhook_delivery_status" DEFAULT 'pending' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"redeliveries" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_delivery_attempts" (
	"delivery_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"status_code" integer,
	"duration_ms" integer NOT NULL,
	"error" text,
	"response_excerpt" text,
	CONSTRAINT "webhook_delivery_attempts_delivery_id_attempt_pk" PRIMARY KEY("delivery_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "webhook_subscriptions" (
	"id" serial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"description" text,
	"active" boolean DEFAULT true NOT NULL,
	"sealed_secret" text NOT NULL,
	"sealed_previous_secret" text,
	"previous_secret_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"identity_workspace_id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"plan" "workspace_plan" NOT NULL,
	"status" "workspace_status" DEFAULT 'pending' NOT NULL,
	"runtime_base_url" text,
	"error_code" text,
	"error_message" text,
	"config" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ready_at" timestamp with time zone,
	"archived_at" timestamp with time zone,
	CONSTRAINT "workspaces_customer_id_unique" UNIQUE("customer_id"),
	CONSTRAINT "workspaces_archived_once" CHECK (("workspaces"."archived_at" is not null) = ("workspaces"."status" = 'archived'))
);
--> statement-breakpoint
ALTER TABLE "agent_settings" ADD CONSTRAINT "agent_settings_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cost_reservations" ADD CONSTRAINT "cost_reservations_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cost_reservations" ADD CONSTRAINT "cost_reservations_budget_id_budgets_id_fk" FOREIGN KEY ("budget_id") REFERENCES "public"."budgets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_artifacts" ADD CONSTRAINT "run_artifacts_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_events" ADD CONSTRAINT "run_events_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_messages" ADD CONSTRAINT "run_messages_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_tool_calls" ADD CONSTRAINT "run_tool_calls_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_subscription_id_webhook_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."webhook_subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_delivery_attempts" ADD CONSTRAINT "webhook_delivery_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD CONSTRAINT "webhook_subscriptions_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_settings_by_slug" ON "agent_settings" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "api_keys_by_workspace" ON "api_keys" USING btree ("customer_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "run_artifacts_once_per_call" ON "run_artifacts" USING btree ("run_id","call_id");--> statement-breakpoint
CREATE INDEX "run_artifacts_by_run" ON "run_artifacts" USING btree ("customer_id","run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "run_events_once" ON "run_events" USING btree ("run_id","key");--> statement-breakpoint
CREATE INDEX "run_tool_calls_by_tool" ON "run_tool_calls" USING btree ("customer_id","tool","created_at");--> statement-breakpoint
CREATE INDEX "runs_by_workspace" ON "runs" USING btree ("customer_id","seq");--> statement-breakpoint
CREATE INDEX "runs_by_agent" ON "runs" USING btree ("customer_id","agent","seq");--> statement-breakpoint
CREATE INDEX "runs_by_time" ON "runs" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE INDEX "runs_by_conversation" ON "runs" USING btree ("customer_id","conversation","seq") WHERE "runs"."conversation" is not null;--> statement-breakpoint
CREATE INDEX "runs_waiting" ON "runs" USING btree ("created_at") WHERE "runs"."status" = 'queued';--> statement-breakpoint
CREATE UNIQUE INDEX "runs_once_per_parent_call" ON "runs" USING btree ("parent_run_id","parent_call_id") WHERE "runs"."parent_call_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_once" ON "webhook_deliveries" USING btree ("subscription_id","event_key");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_workspace" ON "webhook_deliveries" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("created_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_subscriptions_by_workspace" ON "webhook_subscriptions" USING btree ("customer_id","id") WHERE "webhook_subscriptions"."deleted_at" is null;