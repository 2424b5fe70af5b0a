-- The schema of 1.0. Databases of versions before it are refused (decision 216).
-- 
-- Extensions, and what columns count with.
CREATE EXTENSION IF NOT EXISTS vector;--> statement-breakpoint
CREATE SEQUENCE "event_seq";--> statement-breakpoint
CREATE OR REPLACE FUNCTION uuid_by_time() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 0::bigint';--> statement-breakpoint
CREATE OR REPLACE FUNCTION event_tx()
RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_current_xact_id()::text::bigint + event_offset()';--> statement-breakpoint
CREATE OR REPLACE FUNCTION event_horizon()
RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + event_offset()';--> statement-breakpoint
CREATE OR REPLACE FUNCTION continue_event_order() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  newest bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(4711003);
  SELECT greatest(
    (SELECT max(tx) FROM (SELECT tx FROM run_events ORDER BY id DESC LIMIT 1000) e),
    (SELECT max(tx) FROM (SELECT tx FROM project_events ORDER BY id DESC LIMIT 1000) e),
    (SELECT max(tx) FROM (SELECT tx FROM log_events ORDER BY ts DESC LIMIT 1000) e)) INTO newest;
  IF newest IS NULL OR newest < pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset() THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS %L',
    format('SELECT %s::bigint', newest + 1000000 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint));
  RETURN true;
END $$;--> statement-breakpoint

-- Words that columns may have.
CREATE TYPE "public"."billing_currency" AS ENUM('IDR', 'USD');--> statement-breakpoint
CREATE TYPE "public"."ledger_kind" AS ENUM('topup', 'run', 'model_router', 'managed_infra', 'refund', 'adjustment');--> statement-breakpoint
CREATE TYPE "public"."crm_status" AS ENUM('lead', 'trial', 'active', 'at_risk', 'churned');--> statement-breakpoint
CREATE TYPE "public"."event_category" AS ENUM('project', 'task', 'subtask', 'review', 'gate', 'artifact', 'retry', 'cost', 'crash');--> statement-breakpoint
CREATE TYPE "public"."event_level" AS ENUM('debug', 'info', 'warn', 'error');--> statement-breakpoint
CREATE TYPE "public"."export_phase" AS ENUM('rows', 'files', 'closing');--> statement-breakpoint
CREATE TYPE "public"."export_status" AS ENUM('queued', 'running', 'ready', 'failed', 'removed');--> statement-breakpoint
CREATE TYPE "public"."wait_kind" AS ENUM('gate', 'plan', 'webhook_gate', 'question', 'paused', 'lost_effect');--> statement-breakpoint
CREATE TYPE "public"."way_of_answer" AS ENUM('inbox', 'link', 'api_key', 'page', 'signal', 'timeout', 'elsewhere');--> statement-breakpoint
CREATE TYPE "public"."credential_health" AS ENUM('ok', 'unchecked', 'rate_limited', 'expired', 'invalid');--> statement-breakpoint
CREATE TYPE "public"."memory_edge_type" AS ENUM('links_to', 'supersedes', 'uses_tool', 'depends_on');--> statement-breakpoint
CREATE TYPE "public"."memory_status" AS ENUM('active', 'superseded', 'archived');--> statement-breakpoint
CREATE TYPE "public"."destination_kind" AS ENUM('webhook', 'slack', 'email', 's3');--> statement-breakpoint
CREATE TYPE "public"."notice_kind" AS ENUM('opened', 'reminder', 'escalated', 'settled');--> statement-breakpoint
CREATE TYPE "public"."output_delivery_status" AS ENUM('pending', 'delivered', 'failed');--> statement-breakpoint
CREATE TYPE "public"."output_recipient_answer" AS ENUM('confirmed', 'refused');--> statement-breakpoint
CREATE TYPE "public"."attempt_reason" AS ENUM('initial', 'manual_retry', 'review_failure', 'cascade_retrigger', 'edit_session', 'manual_rework', 'auto_retry', 'schema_repair', 'crash_recovery');--> statement-breakpoint
CREATE TYPE "public"."attempt_status" AS ENUM('pending', 'running', 'succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."cascade_mode" AS ENUM('lazy', 'strict', 'none');--> statement-breakpoint
CREATE TYPE "public"."gate_kind" AS ENUM('human', 'webhook', 'schedule', 'pipeline_dep');--> statement-breakpoint
CREATE TYPE "public"."pause_reason" AS ENUM('requested', 'subtask_failed', 'gate_rejected', 'gate_misconfigured', 'budget_breached', 'repeat_crash', 'nonidempotent_crash', 'nothing_dispatchable', 'gate_expired');--> statement-breakpoint
CREATE TYPE "public"."project_status" AS ENUM('planning', 'active', 'paused', 'completed', 'abandoned');--> statement-breakpoint
CREATE TYPE "public"."step_kind" AS ENUM('agent', 'action', 'gate');--> statement-breakpoint
CREATE TYPE "public"."step_role" AS ENUM('producer', 'reviewer', 'tester', 'assembler', 'gatekeeper', 'utility');--> statement-breakpoint
CREATE TYPE "public"."task_kind" AS ENUM('regular', 'edit_session');--> statement-breakpoint
CREATE TYPE "public"."task_status" AS ENUM('pending', 'running', 'blocked', 'review', 'succeeded', 'failed', 'skipped', 'stale');--> statement-breakpoint
CREATE TYPE "public"."run_event_type" AS ENUM('run_received', 'run_started', 'model_resolved', 'model_failover', 'context_loaded', 'claude_request', 'claude_iteration', 'tool_call', 'tool_result', 'run_completed', 'run_failed', 'run_cancelled', 'agent_run_started', 'user_feedback');--> statement-breakpoint
CREATE TYPE "public"."run_status" AS ENUM('queued', 'running', 'succeeded', 'failed', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."tool_call_status" AS ENUM('pending', 'succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."tool_effect" AS ENUM('read', 'idempotent', 'irreversible');--> statement-breakpoint
CREATE TYPE "public"."template_status" AS ENUM('active', 'archived');--> statement-breakpoint
CREATE TYPE "public"."tool_access" AS ENUM('agent', 'human', 'both');--> statement-breakpoint
CREATE TYPE "public"."tool_kind" AS ENUM('stub', 'webhook', 'script', 'command', 'container', 'miniapp');--> statement-breakpoint
CREATE TYPE "public"."tool_shape" AS ENUM('cli', 'api', 'miniapp');--> statement-breakpoint
CREATE TYPE "public"."webhook_delivery_status" AS ENUM('pending', 'delivered', 'failed', 'exhausted', 'dropped');--> statement-breakpoint
CREATE TYPE "public"."member_role" AS ENUM('owner', 'admin', 'member', 'viewer');--> statement-breakpoint
CREATE TYPE "public"."workspace_plan" AS ENUM('internal', 'free', 'starter_byo', 'starter_hosted', 'pro_byo', 'pro_hosted', 'scale');--> statement-breakpoint
CREATE TYPE "public"."workspace_status" AS ENUM('pending', 'provisioning', 'ready', 'failed', 'archived');--> statement-breakpoint

-- Tables. An unlogged one holds what a crash may lose.
CREATE TABLE "agent_settings" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"model" text,
	"default_model" text,
	"selection_mode" text,
	"reasoning" boolean,
	"resolver_enforce" boolean,
	"effort" text,
	"max_output_tokens" integer,
	"fallback_models" text[] DEFAULT '{}' NOT NULL,
	"voice" text,
	"avatar_file" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_settings_customer_id_slug_pk" PRIMARY KEY("customer_id","slug")
);--> statement-breakpoint
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
	"on_lost_effect" text DEFAULT 'tell' NOT NULL,
	"version" text DEFAULT '1' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agents_customer_id_slug_pk" PRIMARY KEY("customer_id","slug")
);--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" serial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"key_hash" text NOT NULL,
	"key_prefix" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"made_by" text,
	CONSTRAINT "api_keys_key_hash_unique" UNIQUE("key_hash")
);--> statement-breakpoint
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
	"reading" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"target" jsonb NOT NULL,
	"change" jsonb NOT NULL,
	"status" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "billing_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"payload" jsonb NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	"processed_at" timestamp with time zone
);--> statement-breakpoint
CREATE TABLE "billing_leases" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"token" uuid NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);--> statement-breakpoint
CREATE TABLE "router_keys" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"key_hash" text NOT NULL,
	"limit_usd" numeric(20, 8) NOT NULL,
	"sealed" text NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"told_revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "router_keys_limited" CHECK ("router_keys"."limit_usd" >= 0)
);--> statement-breakpoint
CREATE TABLE "topups" (
	"session_id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"currency" "billing_currency" NOT NULL,
	"charged_cents" bigint NOT NULL,
	"credit_usd_micros" bigint NOT NULL,
	"fx_usd_idr" numeric(14, 4) NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone
);--> statement-breakpoint
CREATE TABLE "wallet_ledger" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"key" text NOT NULL,
	"delta_usd_micros" bigint NOT NULL,
	"balance_after_usd_micros" bigint NOT NULL,
	"kind" "ledger_kind" NOT NULL,
	"paid_idr_cents" bigint,
	"fx_usd_idr" numeric(14, 4),
	"meta" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "wallet_ledger_charges_are_negative" CHECK (case when "wallet_ledger"."kind" = 'topup' then "wallet_ledger"."delta_usd_micros" > 0 when "wallet_ledger"."kind" in ('run', 'model_router', 'managed_infra') then "wallet_ledger"."delta_usd_micros" < 0 else "wallet_ledger"."delta_usd_micros" <> 0 end)
);--> statement-breakpoint
CREATE TABLE "chat_threads" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"title" text,
	"agent_slug" text,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "spending_notices" (
	"customer_id" text NOT NULL,
	"key" text NOT NULL,
	"id" uuid DEFAULT uuid_by_time() NOT NULL,
	"topic" text NOT NULL,
	"cap_id" text,
	"period_start" date,
	"threshold" integer,
	"spent_usd" numeric(20, 8),
	"limit_usd" numeric(20, 8),
	"run_id" text,
	"told_to" text[] DEFAULT '{}' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"told_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "spending_notices_customer_id_key_pk" PRIMARY KEY("customer_id","key")
);--> statement-breakpoint
CREATE TABLE "crm_customers" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"status" "crm_status" NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "crm_notes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"author" text NOT NULL,
	"text" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "deploy_tokens" (
	"id" serial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"token_hash" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "deploy_tokens_token_hash_unique" UNIQUE("token_hash")
);--> statement-breakpoint
CREATE TABLE "discarded_files" (
	"key" text PRIMARY KEY NOT NULL,
	"deleted_at" timestamp with time zone,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "log_events" (
	"customer_id" text NOT NULL,
	"tx" bigint DEFAULT event_tx() NOT NULL,
	"seq" bigint DEFAULT nextval('event_seq') NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"kind" text NOT NULL,
	"topic" text NOT NULL,
	"subject" text NOT NULL,
	"run_id" text,
	"project_id" text,
	"payload" jsonb NOT NULL,
	CONSTRAINT "log_events_customer_id_tx_seq_pk" PRIMARY KEY("customer_id","tx","seq")
);--> statement-breakpoint
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
	"trace_id" uuid,
	"tx" bigint DEFAULT event_tx() NOT NULL,
	"seq" bigint DEFAULT nextval('event_seq') NOT NULL
);--> statement-breakpoint
CREATE TABLE "workspace_exports" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"status" "export_status" DEFAULT 'queued' NOT NULL,
	"requested_by" text NOT NULL,
	"phase" "export_phase",
	"tables_done" integer DEFAULT 0 NOT NULL,
	"rows_done" bigint DEFAULT 0 NOT NULL,
	"files_done" bigint DEFAULT 0 NOT NULL,
	"folder" text,
	"size_bytes" bigint,
	"sha256" text,
	"summary" jsonb,
	"error_code" text,
	"due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	CONSTRAINT "workspace_exports_ready_whole" CHECK (("workspace_exports"."status" = 'ready') <= (num_nonnulls("workspace_exports"."folder", "workspace_exports"."size_bytes", "workspace_exports"."sha256", "workspace_exports"."summary", "workspace_exports"."completed_at", "workspace_exports"."expires_at") = 6))
);--> statement-breakpoint
CREATE TABLE "feature_flags" (
	"name" text PRIMARY KEY NOT NULL,
	"description" text,
	"enabled" boolean NOT NULL,
	"workspaces" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "heartbeats" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"agent_slug" text NOT NULL,
	"prompt" text NOT NULL,
	"interval_s" integer NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"customer_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"key_hash" text NOT NULL,
	"request_hash" text NOT NULL,
	"caller" text NOT NULL,
	"token" uuid NOT NULL,
	"owner" uuid NOT NULL,
	"lease_until" timestamp with time zone NOT NULL,
	"tries" integer DEFAULT 1 NOT NULL,
	"made" text,
	"answer" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_customer_id_endpoint_key_hash_pk" PRIMARY KEY("customer_id","endpoint","key_hash")
);--> statement-breakpoint
CREATE TABLE "action_links" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"customer_id" text NOT NULL,
	"wait_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"recipient" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"withdrawn_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "wait_delegations" (
	"wait_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"delegator" text NOT NULL,
	"stand_in" text NOT NULL,
	"until" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "wait_delegations_wait_id_delegator_pk" PRIMARY KEY("wait_id","delegator")
);--> statement-breakpoint
CREATE TABLE "wait_votes" (
	"wait_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"revision" integer NOT NULL,
	"voter" text NOT NULL,
	"seat" text,
	"answer" text NOT NULL,
	"comment" text,
	"via" "way_of_answer" NOT NULL,
	"voted_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "wait_votes_wait_id_revision_voter_pk" PRIMARY KEY("wait_id","revision","voter")
);--> statement-breakpoint
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
	"reminders" integer DEFAULT 0 NOT NULL,
	"reminders_by_hand" integer DEFAULT 0 NOT NULL,
	"reminded_at" timestamp with time zone,
	"escalated_at" timestamp with time zone,
	"timed_out_at" timestamp with time zone,
	"settled_at" timestamp with time zone,
	"answer" text,
	"settled_by" text,
	"settled_via" "way_of_answer",
	"comment" text,
	CONSTRAINT "waits_answered_by_somebody" CHECK ("waits"."answer" is null or ("waits"."settled_at" is not null and "waits"."settled_by" is not null))
);--> statement-breakpoint
CREATE TABLE "integration_credentials" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"kind" text NOT NULL,
	"scope" text DEFAULT 'shared' NOT NULL,
	"token_id" uuid NOT NULL,
	"sealed" text NOT NULL,
	"health" "credential_health" DEFAULT 'unchecked' NOT NULL,
	"checked_at" timestamp with time zone,
	"check_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "integration_credentials_customer_id_slug_kind_scope_pk" PRIMARY KEY("customer_id","slug","kind","scope"),
	CONSTRAINT "integration_credentials_token_id_unique" UNIQUE("token_id")
);--> statement-breakpoint
CREATE TABLE "integration_secrets" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"dotted" text NOT NULL,
	"sealed" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "integration_secrets_customer_id_slug_dotted_pk" PRIMARY KEY("customer_id","slug","dotted")
);--> statement-breakpoint
CREATE TABLE "manifest_origins" (
	"customer_id" text NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"source" text NOT NULL,
	"file" text,
	"revision" text,
	"content_hash" text NOT NULL,
	"created_at" timestamp with time zone,
	"applied_by" text NOT NULL,
	"applied_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "manifest_origins_customer_id_kind_name_pk" PRIMARY KEY("customer_id","kind","name")
);--> statement-breakpoint
CREATE TABLE "memory_edges" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "memory_edges_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" text NOT NULL,
	"src_id" integer NOT NULL,
	"edge_type" "memory_edge_type" NOT NULL,
	"dst_slug" text,
	"dst_id" integer
);--> statement-breakpoint
CREATE TABLE "memory_entries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "memory_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" text NOT NULL,
	"type" text NOT NULL,
	"slug" text,
	"name" text,
	"description" text,
	"content" text NOT NULL,
	"agent" text,
	"scope" text DEFAULT 'shared' NOT NULL,
	"source_attribution" text,
	"call_key" text,
	"status" "memory_status" DEFAULT 'active' NOT NULL,
	"always_load" boolean DEFAULT false NOT NULL,
	"last_verified_at" timestamp with time zone,
	"meta" jsonb,
	"category" text,
	"agents" text[] DEFAULT '{}' NOT NULL,
	"embedding" vector(512),
	"hit_count" integer DEFAULT 0 NOT NULL,
	"impression_count" integer DEFAULT 0 NOT NULL,
	"last_hit_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memory_entries_skill_has_slug" CHECK ("memory_entries"."type" <> 'skill' or ("memory_entries"."slug" is not null and "memory_entries"."name" is not null))
);--> statement-breakpoint
CREATE TABLE "miniapp_pages" (
	"id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"tool" text NOT NULL,
	"html" text NOT NULL,
	"submitted" jsonb,
	"submitted_at" timestamp with time zone,
	"waits" text[] DEFAULT '{}' NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "otp_challenges" (
	"id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"operation" text NOT NULL,
	"holder" text,
	"scope" text NOT NULL,
	"recipient" text,
	"body_hash" text NOT NULL,
	"code_hmac" text NOT NULL,
	"wrong_codes" integer DEFAULT 0 NOT NULL,
	"used_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "otp_holder_locks" (
	"customer_id" text NOT NULL,
	"holder" text NOT NULL,
	"wrong_in_a_row" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone,
	CONSTRAINT "otp_holder_locks_customer_id_holder_pk" PRIMARY KEY("customer_id","holder")
);--> statement-breakpoint
CREATE TABLE "output_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"destination_id" uuid NOT NULL,
	"project_id" text,
	"artifact_id" uuid,
	"wait_id" uuid,
	"notice" "notice_kind",
	"nth" integer,
	"revision" integer,
	"recipient" text,
	"status" "output_delivery_status" DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"redeliveries" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"withheld_from" text[] DEFAULT '{}' NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone,
	CONSTRAINT "output_deliveries_of_something" CHECK (num_nonnulls("output_deliveries"."artifact_id", "output_deliveries"."wait_id") = 1 and ("output_deliveries"."wait_id" is null) = ("output_deliveries"."notice" is null))
);--> statement-breakpoint
CREATE TABLE "output_destinations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" "destination_kind" NOT NULL,
	"config" jsonb NOT NULL,
	"sealed" text,
	"workflow_slugs" text[],
	"enabled" boolean DEFAULT true NOT NULL,
	"artifacts" boolean DEFAULT true NOT NULL,
	"waits" boolean DEFAULT false NOT NULL,
	"spending" boolean DEFAULT false NOT NULL,
	"failing_since" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"pause_told_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "output_mail_counts" (
	"day" date NOT NULL,
	"counted" text NOT NULL,
	"mails" integer NOT NULL,
	CONSTRAINT "output_mail_counts_day_counted_pk" PRIMARY KEY("day","counted")
);--> statement-breakpoint
CREATE TABLE "output_recipients" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"destination_id" uuid NOT NULL,
	"email" text NOT NULL,
	"answer" "output_recipient_answer",
	"answered_at" timestamp with time zone,
	"asked_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
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
	"changed_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"task_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"attempt_number" integer NOT NULL,
	"attempt_reason" "attempt_reason" NOT NULL,
	"queued_by" jsonb,
	"status" "attempt_status" DEFAULT 'running' NOT NULL,
	"dispatch_key" text,
	"output" jsonb,
	"output_validated" boolean,
	"error" text,
	"is_crashed" boolean DEFAULT false NOT NULL,
	"cost_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"child_run_id" text,
	"consumed" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	CONSTRAINT "attempts_ended_has_an_end" CHECK (("attempts"."completed_at" is not null) = ("attempts"."status" in ('succeeded', 'failed')))
);--> statement-breakpoint
CREATE TABLE "project_commands" (
	"project_id" text NOT NULL,
	"command_id" text NOT NULL,
	"args" jsonb,
	"result" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "project_commands_project_id_command_id_pk" PRIMARY KEY("project_id","command_id")
);--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"seq" bigserial NOT NULL,
	"customer_id" text NOT NULL,
	"title" text NOT NULL,
	"is_titled" boolean DEFAULT true NOT NULL,
	"workflow_slug" text NOT NULL,
	"workflow_version" integer NOT NULL,
	"status" "project_status" DEFAULT 'planning' NOT NULL,
	"pause_reason" "pause_reason",
	"paused_at" timestamp with time zone,
	"brief" text NOT NULL,
	"params" jsonb,
	"auth_mode" text NOT NULL,
	"started_by" text,
	"is_sample" boolean DEFAULT false NOT NULL,
	"cost_budget_usd" numeric(20, 8),
	"cost_warning_threshold" numeric(20, 8) DEFAULT '0.80' NOT NULL,
	"is_cost_warned" boolean DEFAULT false NOT NULL,
	"cost_burst_per_minute_usd" numeric(20, 8),
	"completions" integer DEFAULT 0 NOT NULL,
	"start_due_at" timestamp with time zone DEFAULT now() + interval '15 seconds',
	"checked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"abandoned_at" timestamp with time zone,
	CONSTRAINT "projects_paused_for_a_reason" CHECK (("projects"."pause_reason" is not null) = ("projects"."status" = 'paused')),
	CONSTRAINT "projects_abandoned_once" CHECK (("projects"."abandoned_at" is not null) = ("projects"."status" = 'abandoned')),
	CONSTRAINT "projects_completed_has_an_end" CHECK ("projects"."status" <> 'completed' or "projects"."completed_at" is not null)
);--> statement-breakpoint
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
	"effort" text,
	"max_attempts" integer NOT NULL,
	"timeout_s" integer,
	"gate_kind" "gate_kind",
	"gate_config" jsonb,
	"gate_output" jsonb,
	"consumed" jsonb,
	"answered_by" jsonb,
	"feedback" text[] DEFAULT '{}' NOT NULL,
	"addendum" text,
	"next_reason" "attempt_reason",
	"attempts_used" integer DEFAULT 0 NOT NULL,
	"crashes" integer DEFAULT 0 NOT NULL,
	"expiries" integer DEFAULT 0 NOT NULL,
	"is_outcome_unknown" boolean DEFAULT false NOT NULL,
	"error" text,
	"stop" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone
);--> statement-breakpoint
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
	"spared_for" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"outdated_by" jsonb,
	"cost_budget_usd" numeric(20, 8),
	"instruction" text,
	"cascade_mode" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone
);--> statement-breakpoint
CREATE TABLE "delivery_slots" (
	"host" text NOT NULL,
	"n" integer NOT NULL,
	"holder" text,
	"customer_id" text,
	"held_until" timestamp with time zone DEFAULT now() NOT NULL,
	"booked_until" timestamp with time zone DEFAULT now() NOT NULL,
	"last_ms" integer DEFAULT 1000 NOT NULL,
	CONSTRAINT "delivery_slots_host_n_pk" PRIMARY KEY("host","n")
);--> statement-breakpoint
CREATE UNLOGGED TABLE "run_texts" (
	"run_id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"project_id" text,
	"turn" integer NOT NULL,
	"attempt" integer NOT NULL,
	"length" integer NOT NULL,
	"text" text NOT NULL,
	"written_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE UNLOGGED TABLE "text_watches" (
	"customer_id" text NOT NULL,
	"watched" text NOT NULL,
	"until" timestamp with time zone NOT NULL,
	CONSTRAINT "text_watches_customer_id_watched_pk" PRIMARY KEY("customer_id","watched")
);--> statement-breakpoint
CREATE TABLE "budgets" (
	"id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"limit_usd" numeric(20, 8),
	"spent_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"reserved_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"period" text,
	"alert_at" integer[],
	"period_start" date,
	CONSTRAINT "budgets_wallet_is_its_balance" CHECK ("budgets"."id" not like 'wallet:%' or ("budgets"."id" = 'wallet:' || "budgets"."customer_id" and "budgets"."limit_usd" is not null and "budgets"."spent_usd" = 0))
);--> statement-breakpoint
CREATE TABLE "cost_reservations" (
	"run_id" text NOT NULL,
	"turn" integer NOT NULL,
	"budget_id" text NOT NULL,
	"amount_usd" numeric(20, 8) NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cost_reservations_run_id_turn_budget_id_pk" PRIMARY KEY("run_id","turn","budget_id")
);--> statement-breakpoint
CREATE TABLE "run_artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"agent" text,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"file_key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "run_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"customer_id" text NOT NULL,
	"key" text NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"event_type" "run_event_type" NOT NULL,
	"duration_ms" integer,
	"cost_usd" numeric(20, 8),
	"status" text,
	"payload" jsonb NOT NULL,
	"tx" bigint DEFAULT event_tx() NOT NULL,
	"seq" bigint DEFAULT nextval('event_seq') NOT NULL
);--> statement-breakpoint
CREATE TABLE "run_messages" (
	"run_id" text NOT NULL,
	"turn" integer NOT NULL,
	"role" text NOT NULL,
	"content" jsonb NOT NULL,
	CONSTRAINT "run_messages_run_id_turn_role_pk" PRIMARY KEY("run_id","turn","role")
);--> statement-breakpoint
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
	"lost_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone,
	CONSTRAINT "run_tool_calls_run_id_call_id_pk" PRIMARY KEY("run_id","call_id")
);--> statement-breakpoint
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
	"output_schema" jsonb,
	"status" "run_status" DEFAULT 'queued' NOT NULL,
	"output" text,
	"error" text,
	"error_code" text,
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
	"saved_usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	"is_priced" boolean DEFAULT true NOT NULL,
	"budget_ids" text[] DEFAULT '{}' NOT NULL,
	"attempt_id" uuid,
	"job_n" integer,
	"step" jsonb,
	"event_count" integer DEFAULT 0 NOT NULL,
	"last_event_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_event_type" "run_event_type" DEFAULT 'run_received' NOT NULL,
	"start_due_at" timestamp with time zone DEFAULT now() + interval '15 seconds',
	"checked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	CONSTRAINT "runs_ended_has_an_end" CHECK (("runs"."completed_at" is not null) = ("runs"."status" in ('succeeded', 'failed', 'cancelled')))
);--> statement-breakpoint
CREATE TABLE "usage_counters" (
	"customer_id" text NOT NULL,
	"resource" text NOT NULL,
	"day" text NOT NULL,
	"used" integer NOT NULL,
	CONSTRAINT "usage_counters_customer_id_resource_day_pk" PRIMARY KEY("customer_id","resource","day")
);--> statement-breakpoint
CREATE TABLE "job_overrides" (
	"customer_id" text NOT NULL,
	"job_id" text NOT NULL,
	"cron" text,
	"enabled" boolean,
	"revision" integer DEFAULT 1 NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_overrides_customer_id_job_id_pk" PRIMARY KEY("customer_id","job_id")
);--> statement-breakpoint
CREATE TABLE "scheduled_jobs" (
	"n" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "scheduled_jobs_n_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"cron" text NOT NULL,
	"agent_slug" text NOT NULL,
	"brief" text NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"model" text DEFAULT 'auto' NOT NULL,
	"reasoning" boolean,
	"output_schema" jsonb,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "search_documents" (
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"customer_id" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"words" "tsvector" NOT NULL,
	CONSTRAINT "search_documents_kind_subject_pk" PRIMARY KEY("kind","subject")
);--> statement-breakpoint
CREATE TABLE "ended_sessions" (
	"session_hash" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);--> statement-breakpoint
CREATE TABLE "login_challenges" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"code_hmac" text NOT NULL,
	"wrong_codes" integer DEFAULT 0 NOT NULL,
	"known" boolean DEFAULT false NOT NULL,
	"used_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "login_locks" (
	"email" text PRIMARY KEY NOT NULL,
	"wrong_in_a_row" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone
);--> statement-breakpoint
CREATE TABLE "session_cutoffs" (
	"customer_id" text NOT NULL,
	"sub" text NOT NULL,
	"not_before" timestamp with time zone NOT NULL,
	CONSTRAINT "session_cutoffs_customer_id_sub_pk" PRIMARY KEY("customer_id","sub")
);--> statement-breakpoint
CREATE TABLE "tallies" (
	"customer_id" text NOT NULL,
	"list" text NOT NULL,
	"dims" text[] NOT NULL,
	"level" smallint NOT NULL,
	"block" bigint NOT NULL,
	"rows" bigint NOT NULL,
	"usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	CONSTRAINT "tallies_list_customer_id_level_block_dims_pk" PRIMARY KEY("list","customer_id","level","block","dims")
);--> statement-breakpoint
CREATE TABLE "tally_deltas" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"list" text NOT NULL,
	"dims" text[] NOT NULL,
	"block" bigint NOT NULL,
	"rows" integer NOT NULL,
	"usd" numeric(20, 8) DEFAULT '0' NOT NULL
);--> statement-breakpoint
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
);--> statement-breakpoint
CREATE TABLE "tools" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"id" integer GENERATED ALWAYS AS IDENTITY (sequence name "tools_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"description" text NOT NULL,
	"kind" "tool_kind" NOT NULL,
	"shape" "tool_shape" NOT NULL,
	"access" "tool_access" DEFAULT 'both' NOT NULL,
	"integration" text,
	"effect" text NOT NULL,
	"sensitive" boolean NOT NULL,
	"schema" json NOT NULL,
	"sealed_body" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tools_customer_id_slug_pk" PRIMARY KEY("customer_id","slug"),
	CONSTRAINT "tools_id_unique" UNIQUE("id")
);--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"subscription_id" integer NOT NULL,
	"event_type" text NOT NULL,
	"event_key" text NOT NULL,
	"status" "webhook_delivery_status" DEFAULT 'pending' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"redeliveries" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone
);--> statement-breakpoint
CREATE TABLE "webhook_delivery_attempts" (
	"delivery_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"status_code" integer,
	"duration_ms" integer NOT NULL,
	"error" text,
	"response_excerpt" text,
	CONSTRAINT "webhook_delivery_attempts_delivery_id_attempt_pk" PRIMARY KEY("delivery_id","attempt")
);--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"customer_id" text NOT NULL,
	"event_key" text NOT NULL,
	"body" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_events_customer_id_event_key_pk" PRIMARY KEY("customer_id","event_key")
);--> statement-breakpoint
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
	"failing_since" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"pause_told_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "webhook_subscriptions_of_workspace" UNIQUE("customer_id","id")
);--> statement-breakpoint
CREATE TABLE "former_members" (
	"customer_id" text NOT NULL,
	"email" text NOT NULL,
	"removed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "former_members_customer_id_email_pk" PRIMARY KEY("customer_id","email")
);--> statement-breakpoint
CREATE TABLE "member_subjects" (
	"customer_id" text NOT NULL,
	"subject" text NOT NULL,
	"email" text NOT NULL,
	CONSTRAINT "member_subjects_customer_id_subject_pk" PRIMARY KEY("customer_id","subject")
);--> statement-breakpoint
CREATE TABLE "workspace_members" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"email" text NOT NULL,
	"role" "member_role" NOT NULL,
	"invited_by" text NOT NULL,
	"last_login_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "workspaces" (
	"identity_workspace_id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"plan" "workspace_plan" NOT NULL,
	"granted_plan" "workspace_plan",
	"paid_plan" "workspace_plan",
	"plan_in_force" "workspace_plan" GENERATED ALWAYS AS (case when plan = 'internal' then plan else greatest(granted_plan, paid_plan, 'free'::workspace_plan) end) STORED NOT NULL,
	"status" "workspace_status" DEFAULT 'pending' NOT NULL,
	"runtime_base_url" text,
	"error_code" text,
	"error_message" text,
	"config" jsonb,
	"provisioned" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"audit_from" bigint,
	"events_from" bigint DEFAULT 0 NOT NULL,
	"destroying_since" timestamp with time zone,
	"due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL,
	"schedules_checked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"infra_charged_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ready_at" timestamp with time zone,
	"archived_at" timestamp with time zone,
	CONSTRAINT "workspaces_customer_id_unique" UNIQUE("customer_id"),
	CONSTRAINT "workspaces_archived_once" CHECK (("workspaces"."archived_at" is not null) = ("workspaces"."status" = 'archived'))
);--> statement-breakpoint

-- References.
ALTER TABLE "agent_settings" ADD CONSTRAINT "agent_settings_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD CONSTRAINT "chat_threads_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crm_customers" ADD CONSTRAINT "crm_customers_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crm_notes" ADD CONSTRAINT "crm_notes_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deploy_tokens" ADD CONSTRAINT "deploy_tokens_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_events" ADD CONSTRAINT "project_events_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_exports" ADD CONSTRAINT "workspace_exports_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heartbeats" ADD CONSTRAINT "heartbeats_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "action_links" ADD CONSTRAINT "action_links_wait_id_waits_id_fk" FOREIGN KEY ("wait_id") REFERENCES "public"."waits"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "wait_delegations" ADD CONSTRAINT "wait_delegations_wait_id_waits_id_fk" FOREIGN KEY ("wait_id") REFERENCES "public"."waits"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "wait_votes" ADD CONSTRAINT "wait_votes_wait_id_waits_id_fk" FOREIGN KEY ("wait_id") REFERENCES "public"."waits"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "integration_credentials" ADD CONSTRAINT "integration_credentials_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "integration_secrets" ADD CONSTRAINT "integration_secrets_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "manifest_origins" ADD CONSTRAINT "manifest_origins_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_edges" ADD CONSTRAINT "memory_edges_src_id_memory_entries_id_fk" FOREIGN KEY ("src_id") REFERENCES "public"."memory_entries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_edges" ADD CONSTRAINT "memory_edges_dst_id_memory_entries_id_fk" FOREIGN KEY ("dst_id") REFERENCES "public"."memory_entries"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_entries" ADD CONSTRAINT "memory_entries_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "miniapp_pages" ADD CONSTRAINT "miniapp_pages_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "otp_challenges" ADD CONSTRAINT "otp_challenges_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "otp_holder_locks" ADD CONSTRAINT "otp_holder_locks_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD CONSTRAINT "output_deliveries_destination_id_output_destinations_id_fk" FOREIGN KEY ("destination_id") REFERENCES "public"."output_destinations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD CONSTRAINT "output_destinations_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "output_recipients" ADD CONSTRAINT "output_recipients_destination_id_output_destinations_id_fk" FOREIGN KEY ("destination_id") REFERENCES "public"."output_destinations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_commands" ADD CONSTRAINT "project_commands_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_texts" ADD CONSTRAINT "run_texts_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cost_reservations" ADD CONSTRAINT "cost_reservations_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cost_reservations" ADD CONSTRAINT "cost_reservations_budget_id_budgets_id_fk" FOREIGN KEY ("budget_id") REFERENCES "public"."budgets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_artifacts" ADD CONSTRAINT "run_artifacts_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_events" ADD CONSTRAINT "run_events_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_messages" ADD CONSTRAINT "run_messages_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_tool_calls" ADD CONSTRAINT "run_tool_calls_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_overrides" ADD CONSTRAINT "job_overrides_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_jobs" ADD CONSTRAINT "scheduled_jobs_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tools" ADD CONSTRAINT "tools_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_of_endpoint" FOREIGN KEY ("customer_id","subscription_id") REFERENCES "public"."webhook_subscriptions"("customer_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_delivery_attempts" ADD CONSTRAINT "webhook_delivery_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD CONSTRAINT "webhook_subscriptions_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "former_members" ADD CONSTRAINT "former_members_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "member_subjects" ADD CONSTRAINT "member_subjects_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint

-- Indexes.
CREATE INDEX "agent_settings_by_slug" ON "agent_settings" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "api_keys_by_workspace" ON "api_keys" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "attachments_by_owner" ON "attachments" USING btree ("customer_id","owner_kind","owner_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_workspace" ON "audit_log" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_action" ON "audit_log" USING btree ("customer_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_actor" ON "audit_log" USING btree ("customer_id","actor","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_workspace_and_time" ON "audit_log" USING btree ("customer_id","created_at","id","action","actor");--> statement-breakpoint
CREATE INDEX "audit_log_by_time" ON "audit_log" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "billing_events_by_object" ON "billing_events" USING btree (("payload" #>> '{data,object,id}'));--> statement-breakpoint
CREATE INDEX "topups_by_workspace" ON "topups" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_ledger_once" ON "wallet_ledger" USING btree ("customer_id","key");--> statement-breakpoint
CREATE INDEX "wallet_ledger_by_workspace" ON "wallet_ledger" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "chat_threads_by_use" ON "chat_threads" USING btree ("customer_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "spending_notices_untold" ON "spending_notices" USING btree ("due_at") WHERE "spending_notices"."told_at" is null;--> statement-breakpoint
CREATE INDEX "crm_notes_by_customer" ON "crm_notes" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "deploy_tokens_by_workspace" ON "deploy_tokens" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "discarded_files_due" ON "discarded_files" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "log_events_by_time" ON "log_events" USING btree ("ts");--> statement-breakpoint
CREATE INDEX "log_events_of_withdrawn_runs" ON "log_events" USING btree ("customer_id","tx","seq") WHERE kind = 'run';--> statement-breakpoint
CREATE UNIQUE INDEX "log_events_missed_once" ON "log_events" USING btree ("customer_id",(payload ->> 'firing')) WHERE kind = 'schedule' and topic = 'missed';--> statement-breakpoint
CREATE INDEX "project_events_in_order" ON "project_events" USING btree ("customer_id","tx","seq");--> statement-breakpoint
CREATE INDEX "project_events_by_time" ON "project_events" USING btree ("customer_id","ts","id");--> statement-breakpoint
CREATE INDEX "project_events_by_category" ON "project_events" USING btree ("customer_id","category","ts","id") WHERE "project_events"."category" not in ('task', 'subtask');--> statement-breakpoint
CREATE INDEX "project_events_by_level" ON "project_events" USING btree ("customer_id","level","ts","id") WHERE "project_events"."level" <> 'info';--> statement-breakpoint
CREATE INDEX "project_events_by_project" ON "project_events" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "project_events_by_subtask" ON "project_events" USING btree ("subtask_id","id") WHERE "project_events"."subtask_id" is not null;--> statement-breakpoint
CREATE INDEX "workspace_exports_by_workspace" ON "workspace_exports" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "workspace_exports_one_under_way" ON "workspace_exports" USING btree ("customer_id") WHERE "workspace_exports"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "workspace_exports_under_way" ON "workspace_exports" USING btree ("customer_id","due_at") WHERE "workspace_exports"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "workspace_exports_by_expiry" ON "workspace_exports" USING btree ("expires_at") WHERE "workspace_exports"."status" = 'ready';--> statement-breakpoint
CREATE INDEX "heartbeats_of_workspace" ON "heartbeats" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_time" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "action_links_by_token" ON "action_links" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "action_links_by_wait" ON "action_links" USING btree ("wait_id");--> statement-breakpoint
CREATE INDEX "action_links_by_recipient" ON "action_links" USING btree ("customer_id","recipient") WHERE "action_links"."withdrawn_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "waits_one_open_per_subject" ON "waits" USING btree ("subject") WHERE "waits"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "waits_by_subject" ON "waits" USING btree ("subject","revision");--> statement-breakpoint
CREATE INDEX "waits_open" ON "waits" USING btree ("customer_id","opened_at","id") WHERE "waits"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "waits_settled" ON "waits" USING btree ("customer_id","settled_at","id") WHERE "waits"."settled_at" is not null;--> statement-breakpoint
CREATE INDEX "waits_expiring" ON "waits" USING btree ("expires_at") WHERE "waits"."settled_at" is null and "waits"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "waits_by_project" ON "waits" USING btree ("project_id","settled_at");--> statement-breakpoint
CREATE INDEX "waits_by_subtask" ON "waits" USING btree ("subtask_id");--> statement-breakpoint
CREATE INDEX "waits_by_run" ON "waits" USING btree ("run_id") WHERE "waits"."run_id" is not null;--> statement-breakpoint
CREATE INDEX "integration_credentials_to_check" ON "integration_credentials" USING btree ("check_at");--> statement-breakpoint
CREATE INDEX "manifest_origins_by_source" ON "manifest_origins" USING btree ("customer_id","source");--> statement-breakpoint
CREATE UNIQUE INDEX "memory_edges_once" ON "memory_edges" USING btree ("src_id","edge_type","dst_slug") WHERE "memory_edges"."dst_slug" is not null;--> statement-breakpoint
CREATE INDEX "memory_edges_by_destination" ON "memory_edges" USING btree ("dst_id");--> statement-breakpoint
CREATE INDEX "memory_edges_by_slug" ON "memory_edges" USING btree ("customer_id","dst_slug");--> statement-breakpoint
CREATE UNIQUE INDEX "memory_entries_by_slug" ON "memory_entries" USING btree ("customer_id","slug") WHERE "memory_entries"."slug" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "memory_entries_by_call" ON "memory_entries" USING btree ("customer_id","call_key") WHERE "memory_entries"."call_key" is not null;--> statement-breakpoint
CREATE INDEX "memory_entries_skills" ON "memory_entries" USING btree ("customer_id","slug") WHERE "memory_entries"."type" = 'skill';--> statement-breakpoint
CREATE INDEX "memory_entries_newest" ON "memory_entries" USING btree ("customer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "memory_entries_by_agent" ON "memory_entries" USING btree ("customer_id","agent","created_at","id");--> statement-breakpoint
CREATE INDEX "memory_entries_by_type" ON "memory_entries" USING btree ("customer_id","type","created_at","id");--> statement-breakpoint
CREATE INDEX "memory_entries_in_files" ON "memory_entries" USING btree ("customer_id","slug") WHERE ("memory_entries"."meta" ->> 'in_files') = 'true';--> statement-breakpoint
CREATE INDEX "memory_entries_always_loaded" ON "memory_entries" USING btree ("customer_id","id") WHERE "memory_entries"."always_load";--> statement-breakpoint
CREATE INDEX "memory_entries_by_embedding" ON "memory_entries" USING hnsw ("embedding" vector_cosine_ops) WITH (m=16,ef_construction=128);--> statement-breakpoint
CREATE UNIQUE INDEX "miniapp_pages_once_per_call" ON "miniapp_pages" USING btree ("run_id","call_id");--> statement-breakpoint
CREATE INDEX "miniapp_pages_untold" ON "miniapp_pages" USING btree ("submitted_at") WHERE "miniapp_pages"."submitted_at" is not null and "miniapp_pages"."waits" <> '{}';--> statement-breakpoint
CREATE INDEX "otp_challenges_by_expiry" ON "otp_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "otp_challenges_by_workspace" ON "otp_challenges" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE INDEX "otp_challenges_by_recipient" ON "otp_challenges" USING btree ("recipient","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "output_deliveries_once" ON "output_deliveries" USING btree ("destination_id","artifact_id");--> statement-breakpoint
CREATE UNIQUE INDEX "output_deliveries_of_wait_once" ON "output_deliveries" USING btree ("wait_id","destination_id","notice","nth",coalesce("recipient", '')) WHERE "output_deliveries"."wait_id" is not null;--> statement-breakpoint
CREATE INDEX "output_deliveries_by_workspace" ON "output_deliveries" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "output_deliveries_by_destination" ON "output_deliveries" USING btree ("customer_id","destination_id","id");--> statement-breakpoint
CREATE INDEX "output_deliveries_undelivered" ON "output_deliveries" USING btree ("customer_id","status","id") WHERE "output_deliveries"."status" <> 'delivered';--> statement-breakpoint
CREATE INDEX "output_deliveries_to_address" ON "output_deliveries" USING btree ("id") WHERE "output_deliveries"."status" = 'pending' and "output_deliveries"."due_at" = 'infinity';--> statement-breakpoint
CREATE INDEX "output_deliveries_pending" ON "output_deliveries" USING btree ("customer_id","due_at") WHERE "output_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "output_destinations_by_name" ON "output_destinations" USING btree ("customer_id","name");--> statement-breakpoint
CREATE INDEX "output_destinations_paused" ON "output_destinations" USING btree ("paused_at") WHERE "output_destinations"."paused_at" is not null and "output_destinations"."pause_told_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "output_recipients_once" ON "output_recipients" USING btree ("destination_id","email");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_numbered" ON "artifacts" USING btree ("task_id","version");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_one_current_per_phase" ON "artifacts" USING btree ("task_id") WHERE not "artifacts"."superseded";--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_once_per_attempt" ON "artifacts" USING btree ("produced_by_attempt_id") WHERE "artifacts"."produced_by_attempt_id" is not null and "artifacts"."produced_via" <> 'edit_session';--> statement-breakpoint
CREATE INDEX "artifacts_by_project" ON "artifacts" USING btree ("project_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_numbered" ON "attempts" USING btree ("subtask_id","attempt_number");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_once_per_dispatch" ON "attempts" USING btree ("subtask_id","dispatch_key");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_one_open_per_step" ON "attempts" USING btree ("subtask_id") WHERE "attempts"."status" in ('pending', 'running');--> statement-breakpoint
CREATE INDEX "attempts_by_project" ON "attempts" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "attempts_by_task" ON "attempts" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "projects_by_workspace" ON "projects" USING btree ("customer_id","seq");--> statement-breakpoint
CREATE INDEX "projects_by_status" ON "projects" USING btree ("customer_id","status","seq");--> statement-breakpoint
CREATE INDEX "projects_by_template" ON "projects" USING btree ("customer_id","workflow_slug","seq");--> statement-breakpoint
CREATE INDEX "projects_by_time" ON "projects" USING btree ("customer_id","created_at","seq");--> statement-breakpoint
CREATE INDEX "projects_unstarted" ON "projects" USING btree ("customer_id","start_due_at") WHERE "projects"."status" = 'planning' and "projects"."start_due_at" is not null;--> statement-breakpoint
CREATE INDEX "projects_under_way" ON "projects" USING btree ("customer_id","checked_at") WHERE "projects"."status" in ('planning', 'active') or "projects"."checked_at" < "projects"."abandoned_at";--> statement-breakpoint
CREATE UNIQUE INDEX "subtasks_once_per_step" ON "subtasks" USING btree ("task_id","step_slug");--> statement-breakpoint
CREATE INDEX "subtasks_by_task" ON "subtasks" USING btree ("task_id","position");--> statement-breakpoint
CREATE INDEX "subtasks_by_project" ON "subtasks" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "subtasks_webhook_gates" ON "subtasks" USING btree ("customer_id",(status = 'blocked'),coalesce(completed_at, started_at, created_at),"id") WHERE "subtasks"."gate_kind" = 'webhook';--> statement-breakpoint
CREATE INDEX "subtasks_webhook_gates_by_status" ON "subtasks" USING btree ("customer_id","status",coalesce(completed_at, started_at, created_at),"id") WHERE "subtasks"."gate_kind" = 'webhook';--> statement-breakpoint
CREATE INDEX "subtasks_waiting_for_projects" ON "subtasks" USING btree ("customer_id",(gate_config ->> 'project_id')) WHERE "subtasks"."gate_kind" = 'pipeline_dep' and "subtasks"."status" = 'blocked';--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_once_per_phase" ON "tasks" USING btree ("project_id","phase_slug");--> statement-breakpoint
CREATE INDEX "tasks_by_project" ON "tasks" USING btree ("project_id","position");--> statement-breakpoint
CREATE INDEX "delivery_slots_by_time" ON "delivery_slots" USING btree ("held_until");--> statement-breakpoint
CREATE INDEX "run_texts_by_workspace" ON "run_texts" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "budgets_capping" ON "budgets" USING btree ("customer_id") WHERE "budgets"."period" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "run_artifacts_once_per_call" ON "run_artifacts" USING btree ("run_id","call_id");--> statement-breakpoint
CREATE INDEX "run_artifacts_by_run" ON "run_artifacts" USING btree ("customer_id","run_id");--> statement-breakpoint
CREATE INDEX "run_artifacts_by_workspace" ON "run_artifacts" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "run_artifacts_by_agent" ON "run_artifacts" USING btree ("customer_id","agent","id");--> statement-breakpoint
CREATE UNIQUE INDEX "run_events_once" ON "run_events" USING btree ("run_id","key");--> statement-breakpoint
CREATE INDEX "run_events_in_order" ON "run_events" USING btree ("customer_id","tx","seq");--> statement-breakpoint
CREATE INDEX "run_tool_calls_by_tool" ON "run_tool_calls" USING btree ("customer_id","tool","created_at");--> statement-breakpoint
CREATE INDEX "runs_by_workspace" ON "runs" USING btree ("customer_id","seq");--> statement-breakpoint
CREATE INDEX "runs_by_agent" ON "runs" USING btree ("customer_id","agent","seq");--> statement-breakpoint
CREATE INDEX "runs_by_transport" ON "runs" USING btree ("customer_id","transport","seq");--> statement-breakpoint
CREATE INDEX "runs_by_time" ON "runs" USING btree ("customer_id","created_at","seq","agent","transport");--> statement-breakpoint
CREATE INDEX "runs_by_conversation" ON "runs" USING btree ("customer_id","conversation","seq") WHERE "runs"."conversation" is not null;--> statement-breakpoint
CREATE INDEX "runs_unstarted" ON "runs" USING btree ("customer_id","start_due_at") WHERE "runs"."status" = 'queued' and "runs"."start_due_at" is not null;--> statement-breakpoint
CREATE INDEX "runs_in_flight_by_agent" ON "runs" USING btree ("customer_id","agent") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "runs_in_flight" ON "runs" USING btree ("customer_id","checked_at") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "runs_unsuccessful" ON "runs" USING btree ("customer_id","status","seq") WHERE "runs"."status" in ('failed', 'cancelled');--> statement-breakpoint
CREATE UNIQUE INDEX "runs_once_per_parent_call" ON "runs" USING btree ("parent_run_id","parent_call_id") WHERE "runs"."parent_call_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "scheduled_jobs_by_name" ON "scheduled_jobs" USING btree ("customer_id","name");--> statement-breakpoint
CREATE INDEX "search_documents_by_time" ON "search_documents" USING btree ("customer_id","at","subject");--> statement-breakpoint
CREATE INDEX "search_documents_by_word" ON "search_documents" USING gin ("words");--> statement-breakpoint
CREATE INDEX "ended_sessions_by_expiry" ON "ended_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_challenges_by_expiry" ON "login_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_challenges_by_email" ON "login_challenges" USING btree ("email","created_at");--> statement-breakpoint
CREATE INDEX "tally_deltas_of_list" ON "tally_deltas" USING btree ("list","customer_id");--> statement-breakpoint
CREATE INDEX "templates_by_slug" ON "templates" USING btree ("slug","version");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_once" ON "webhook_deliveries" USING btree ("event_key","subscription_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_workspace" ON "webhook_deliveries" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_endpoint" ON "webhook_deliveries" USING btree ("customer_id","subscription_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_undelivered" ON "webhook_deliveries" USING btree ("customer_id","status","id") WHERE "webhook_deliveries"."status" <> 'delivered';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("customer_id","due_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_events_by_time" ON "webhook_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhook_subscriptions_paused" ON "webhook_subscriptions" USING btree ("paused_at") WHERE "webhook_subscriptions"."paused_at" is not null and "webhook_subscriptions"."pause_told_at" is null;--> statement-breakpoint
CREATE INDEX "webhook_subscriptions_by_workspace" ON "webhook_subscriptions" USING btree ("customer_id","id") WHERE "webhook_subscriptions"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "workspace_members_once" ON "workspace_members" USING btree ("customer_id","email");--> statement-breakpoint
CREATE INDEX "workspace_members_by_email" ON "workspace_members" USING btree ("email");--> statement-breakpoint
CREATE INDEX "workspaces_pending" ON "workspaces" USING btree ("due_at") WHERE "workspaces"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "workspaces_provisioning" ON "workspaces" USING btree ("due_at") WHERE "workspaces"."status" = 'provisioning';--> statement-breakpoint
CREATE INDEX "workspaces_by_schedules_checked" ON "workspaces" USING btree ("schedules_checked_at");--> statement-breakpoint

-- A large table is vacuumed and analyzed after changes to a fiftieth of it, not a fifth: plans and index-only scans keep to
-- what is there. The deltas come and go all the time.
ALTER TABLE "runs" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_events" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_messages" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_tool_calls" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_artifacts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "webhook_deliveries" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "webhook_delivery_attempts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "webhook_events" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "output_deliveries" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "projects" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "tasks" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "subtasks" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "attempts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "artifacts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "project_events" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "audit_log" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "wallet_ledger" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "tally_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);--> statement-breakpoint
ALTER TABLE "tallies" SET (fillfactor = 80);--> statement-breakpoint
-- Room for counts of recall to be updated in place; else each update would write the indexes too.
ALTER TABLE "memory_entries" SET (fillfactor = 70);--> statement-breakpoint
-- The model whose vectors the column holds.
COMMENT ON COLUMN "memory_entries"."embedding" IS 'universal-sentence-encoder-lite-en';--> statement-breakpoint

-- Functions, views, tallies and triggers, as `src/resources/*/sql/*.sql` and `src/platform/db/sql/*.sql` have them, with the reason for
-- each. A function may come before one that it calls.
SET LOCAL check_function_bodies = off;--> statement-breakpoint
CREATE OR REPLACE FUNCTION wallet_balance_is_of_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  customer text := (coalesce(old, new)).customer_id;
  balance numeric := (SELECT limit_usd FROM budgets WHERE id = 'wallet:' || customer);
  of_ledger bigint := (
    SELECT balance_after_usd_micros FROM wallet_ledger WHERE customer_id = customer ORDER BY id DESC LIMIT 1);
BEGIN
  IF coalesce(balance, 0) * 1000000 <> coalesce(of_ledger, 0) THEN
    RAISE EXCEPTION 'the balance of wallet:% is kept by wallet_ledger alone', customer USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION wallet_ledger_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wallet text := 'wallet:' || new.customer_id;
BEGIN
  INSERT INTO budgets (id, customer_id, limit_usd) VALUES (wallet, new.customer_id, 0) ON CONFLICT (id) DO NOTHING;
  PERFORM 1 FROM budgets WHERE id = wallet FOR UPDATE;
  IF EXISTS (SELECT 1 FROM wallet_ledger l WHERE l.customer_id = new.customer_id AND l.key = new.key) THEN
    RETURN NULL;
  END IF;
  UPDATE budgets SET limit_usd = limit_usd + new.delta_usd_micros / 1000000.0 WHERE id = wallet
    RETURNING (limit_usd * 1000000)::bigint INTO new.balance_after_usd_micros;
  new.id := nextval('wallet_ledger_id_seq');
  RETURN new;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION wallet_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'wallet_ledger is append-only: post a refund or an adjustment instead' USING ERRCODE = 'restrict_violation';
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION note_spending() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cap text := substr(new.id, length('cap:' || new.customer_id || ':') + 1);
  crossed integer[];
BEGIN
  SELECT array_agg(t ORDER BY t) INTO crossed FROM unnest(coalesce(new.alert_at, '{50,80,100}')) t WHERE new.spent_usd * 100 >= new.limit_usd * t;
  IF crossed IS NULL OR new.period_start IS DISTINCT FROM date_trunc(new.period, now() at time zone 'utc')::date THEN
    RETURN NULL;
  END IF;
  WITH noted AS (
    INSERT INTO spending_notices (customer_id, key, topic, cap_id, period_start, threshold, spent_usd, limit_usd, told_at)
    SELECT new.customer_id, concat_ws('/', cap, new.period_start, t, trim_scale(new.limit_usd)), 'threshold', cap, new.period_start, t,
      new.spent_usd, new.limit_usd, CASE WHEN t < crossed[cardinality(crossed)] THEN now() END
    FROM unnest(crossed) t ON CONFLICT DO NOTHING
    RETURNING threshold, told_at
  )
  INSERT INTO log_events (customer_id, kind, topic, subject, payload)
  SELECT new.customer_id, 'spending', 'threshold', cap, jsonb_build_object('threshold', threshold,
    'spent_usd', trim_scale(new.spent_usd)::text, 'limit_usd', trim_scale(new.limit_usd)::text)
  FROM noted WHERE told_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION note_unpriced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH noted AS (
    INSERT INTO spending_notices (customer_id, key, topic, run_id)
    VALUES (new.customer_id, 'unpriced/' || (now() at time zone 'utc')::date, 'unpriced', new.id) ON CONFLICT DO NOTHING RETURNING 1
  )
  INSERT INTO log_events (customer_id, kind, topic, subject, run_id, payload)
  SELECT new.customer_id, 'spending', 'unpriced', new.id, new.id, jsonb_build_object('model', new.model) FROM noted;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION log_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log_events (customer_id, kind, topic, subject, run_id, project_id, payload)
  VALUES (new.customer_id, 'wait',
    CASE WHEN TG_OP = 'INSERT' THEN 'opened' WHEN new.settled_at IS NULL THEN 'revised' ELSE 'settled' END,
    new.id::text, new.run_id, new.project_id,
    jsonb_build_object('kind', new.kind, 'revision', new.revision)
      || CASE WHEN new.settled_at IS NULL THEN '{}'::jsonb
        ELSE jsonb_build_object('answer', new.answer, 'settled_by', new.settled_by, 'settled_via', new.settled_via) END);
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION open_wait(
  of_kind wait_kind, of_subject text, of_customer text, of_project text, of_subtask uuid, of_run text, of_call
  text, due timestamptz, expires timestamptz
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO waits AS w (customer_id, kind, subject, project_id, subtask_id, run_id, call_id, revision, due_at, expires_at)
  SELECT of_customer, of_kind, of_subject, of_project, of_subtask, of_run, of_call,
    coalesce((SELECT max(e.revision) FROM waits e WHERE e.subject = of_subject), 0) + 1, due, expires
  ON CONFLICT (subject) WHERE settled_at IS NULL DO UPDATE SET revision = w.revision + 1;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION close_wait(of_subject text) RETURNS void LANGUAGE sql AS $$
  UPDATE waits SET settled_at = now() WHERE subject = of_subject AND settled_at IS NULL;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION tell_of_wait() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what notice_kind;
  n integer := 1;
BEGIN
  IF TG_OP = 'UPDATE' AND new.settled_at IS NOT NULL THEN
    INSERT INTO output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, due_at)
    SELECT uuid_by_time(), new.customer_id, d.id, new.project_id, new.id, 'settled', n, new.revision,
      CASE d.kind WHEN 'email' THEN 'infinity' ELSE now() END
    FROM output_destinations d
    WHERE d.customer_id = new.customer_id AND d.enabled AND d.waits
      AND EXISTS (SELECT FROM output_deliveries o WHERE o.wait_id = new.id AND o.destination_id = d.id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND new.escalated_at IS DISTINCT FROM old.escalated_at THEN
    what := 'escalated';
  ELSIF TG_OP = 'UPDATE' AND (new.reminders, new.reminders_by_hand) IS DISTINCT FROM (old.reminders, old.reminders_by_hand) THEN
    what := 'reminder';
    n := new.reminders + new.reminders_by_hand;
  ELSE
    what := 'opened';
    n := new.revision;
  END IF;
  INSERT INTO output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, due_at)
  SELECT uuid_by_time(), new.customer_id, d.id, new.project_id, new.id, what, n, new.revision,
    CASE d.kind WHEN 'email' THEN 'infinity' ELSE now() END
  FROM output_destinations d
  WHERE d.customer_id = new.customer_id AND d.enabled AND d.waits AND (d.workflow_slugs IS NULL OR EXISTS (
    SELECT FROM projects p WHERE p.id = new.project_id AND p.workflow_slug = ANY (d.workflow_slugs)))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION waits_of_artifact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET revision = w.revision + 1
  FROM subtasks s JOIN tasks t ON t.id = s.task_id
  WHERE w.project_id = new.project_id AND w.settled_at IS NULL AND s.id = w.subtask_id
    AND (new.phase_slug = ANY (t.depends_on) OR w.kind = 'plan');
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION waits_of_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits SET settled_at = now()
  WHERE run_id = new.run_id AND call_id = new.call_id AND kind = 'question' AND settled_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION waits_of_gate() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE FUNCTION waits_of_lost_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'pending' THEN
    PERFORM open_wait('lost_effect', new.run_id || '/' || new.call_id, new.customer_id, NULL, NULL, new.run_id, new.call_id, NULL, NULL);
  ELSE
    PERFORM close_wait(new.run_id || '/' || new.call_id);
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION waits_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM open_wait('question', new.id, new.customer_id,
    (SELECT a.project_id FROM runs r JOIN attempts a ON a.id = r.attempt_id WHERE r.id = new.run_id),
    NULL, new.run_id, new.call_id, NULL, new.expires_at);
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION waits_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.status = 'paused' AND new.pause_reason <> 'requested' THEN
    PERFORM open_wait('paused', new.id, new.customer_id, new.id, NULL, NULL, NULL, NULL, NULL);
  ELSE
    PERFORM close_wait(new.id);
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION waits_of_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waits w SET settled_at = now()
  WHERE w.run_id = new.id AND w.settled_at IS NULL AND (w.kind = 'lost_effect' OR EXISTS (
    SELECT FROM miniapp_pages p WHERE p.id = w.subject AND p.tool = 'ask_human'));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION is_among(named jsonb, who text, member_role text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    (member_role IS NOT NULL AND (named -> 'members' ? lower(who) OR named -> 'roles' ? member_role))
      OR named -> 'emails' ? lower(who) OR (starts_with(who, 'api-key:') AND named -> 'api_keys' = 'true'), false);
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION may_answer(config jsonb, is_escalated boolean, who text, member_role text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT member_role IS DISTINCT FROM 'viewer' AND (
    config -> 'approvers' IS NULL OR is_among(config -> 'approvers', who, member_role)
      OR (is_escalated AND is_among(config -> 'escalate_to', who, member_role)));
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION person_behind(of_customer text, who text)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce((SELECT s.email FROM member_subjects s WHERE s.customer_id = of_customer AND s.subject = maker.name), maker.name))
  FROM (SELECT CASE
    WHEN starts_with(who, 'api-key:') THEN coalesce((
      SELECT k.made_by FROM api_keys k WHERE k.customer_id = of_customer AND 'api-key:' || k.id = who), 'api-key')
    WHEN starts_with(who, 'deploy-token:') THEN coalesce((
      SELECT t.created_by FROM deploy_tokens t WHERE t.customer_id = of_customer AND 'deploy-token:' || t.id = who), who)
    ELSE who END AS name) maker;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION has_say(of_customer text, config jsonb, is_escalated boolean, who text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT NOT EXISTS (SELECT FROM former_members f WHERE f.customer_id = of_customer AND f.email = one.person)
    AND NOT EXISTS (
      SELECT FROM api_keys k WHERE k.customer_id = of_customer AND 'api-key:' || k.id = who AND k.revoked_at IS NOT NULL)
    AND m.role::text IS DISTINCT FROM 'viewer'
    AND CASE WHEN starts_with(who, 'api-key:') THEN may_answer(config, is_escalated, who, NULL)
      ELSE may_answer(config, is_escalated, one.person, m.role::text) END
  FROM (SELECT person_behind(of_customer, who) AS person) one
    LEFT JOIN workspace_members m ON m.customer_id = of_customer AND m.email = one.person;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION seat_at(of_wait uuid, of_customer text, config jsonb, is_escalated boolean, who text)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN has_say(of_customer, config, is_escalated, who) THEN who
  ELSE (
    SELECT d.delegator FROM wait_delegations d
      JOIN workspace_members stand_in ON stand_in.customer_id = d.customer_id AND stand_in.email = d.stand_in
    WHERE d.wait_id = of_wait AND d.customer_id = of_customer AND d.stand_in = lower(who) AND d.until > now()
      AND has_say(of_customer, NULL, false, d.stand_in) AND has_say(of_customer, config, is_escalated, d.delegator)
    ORDER BY d.created_at, d.delegator LIMIT 1) END;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION approvals_of(
  of_wait uuid, of_customer text, of_revision integer, config jsonb, is_escalated boolean
) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT least(count(DISTINCT person_behind(of_customer, v.voter)),
    count(DISTINCT person_behind(of_customer, coalesce(v.seat, v.voter))))::integer
  FROM wait_votes v
  WHERE v.wait_id = of_wait AND v.customer_id = of_customer AND v.revision = of_revision AND v.answer = 'approve'
    AND has_say(of_customer, config, is_escalated, coalesce(v.seat, v.voter))
    AND (v.seat IS NULL OR (has_say(of_customer, NULL, false, v.voter) AND EXISTS (
      SELECT FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = lower(v.voter))));
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION keys_may_answer(config jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT config -> 'approvers' IS NOT NULL;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION addresses_named(config jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_array_elements_text(
    coalesce(config -> 'approvers' -> 'emails', '[]') || coalesce(config -> 'escalate_to' -> 'emails', '[]'));
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION has_say_by_link(of_customer text, config jsonb, is_escalated boolean, recipient text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT has_say(of_customer, NULL, false, recipient) AND (
    EXISTS (SELECT FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = recipient)
      OR is_among(config -> 'approvers', recipient, NULL)
      OR (is_escalated AND is_among(config -> 'escalate_to', recipient, NULL)));
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION withdraw_links_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE action_links SET withdrawn_at = now()
  WHERE customer_id = old.customer_id AND recipient = old.email AND withdrawn_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_document_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'project_events' THEN
    INSERT INTO search_documents VALUES ('event', new.id::text, new.customer_id, new.ts, search_words_of_event(new.customer_id, new.topic, new.payload));
  ELSIF TG_TABLE_NAME = 'log_events' THEN
    INSERT INTO search_documents VALUES ('event', 'log-' || new.seq, new.customer_id, new.ts, search_words_of_event(new.customer_id, new.topic, new.payload));
  ELSE
    INSERT INTO search_documents VALUES (TG_ARGV[0], new.id::text, new.customer_id, new.created_at, search_words_of(new))
    ON CONFLICT (kind, subject) DO UPDATE SET words = excluded.words;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_document_of_row_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE kind = TG_ARGV[0] AND subject = new.id::text;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_document_of_run_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_documents VALUES ('event', 'log-r' || new.id, new.customer_id, new.ts, search_words_of(new));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_document_of_run_event_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE kind = 'event' AND subject = 'log-r' || old.id;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_documents_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents d WHERE d.kind = TG_ARGV[0] AND d.subject = ANY (ARRAY(SELECT g.id::text FROM gone g));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_documents_of_log_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents d WHERE d.kind = 'event' AND d.subject = ANY (ARRAY(SELECT 'log-' || g.seq FROM gone g WHERE text_of_event(g.payload) <> ''));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION without_page_keys(of_text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN of_text ~* 'miniapps|act|token' THEN regexp_replace(regexp_replace(regexp_replace(of_text,
    '(miniapps(?:\\*/|%(?:25)*2F|&#x2F;|&#47;)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[\w-]*', '\1', 'gi'),
    '(miniapps(?:\\*/|%(?:25)*2F|&#x2F;|&#47;))[\w-]{37,}', '\1***', 'gi'),
    '((?:act(?:\\*/|%(?:25)*2F|&#x2F;|&#47;)|token(?:=|%(?:25)*3D|&#x3D;|&#61;)))[\w-]{10,}\.(?:[\w-]{1,40}\.)?[\w-]{16,}', '\1***', 'gi')
  ELSE of_text END;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words(of_text text, weight "char")
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT setweight(to_tsvector('simple'::regconfig, translate(left(coalesce(without_page_keys(of_text), ''), 50000), './-_:@&<>=?%~+#*\''', '                  ')), weight);
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_marks(of_customer text, of_kind text, status text, agent text)
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_to_tsvector(array_remove(array['@' || of_customer, '#' || of_kind, '%' || status, '~' || agent], NULL));
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of(r runs) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(r.customer_id, 'run', CASE WHEN r.completed_at IS NULL THEN 'open' ELSE r.status::text END, r.agent)
    || search_words(r.id, 'A') || search_words(r.prompt, 'B') || search_words(r.output, 'C') || search_words(r.error, 'C');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of(p projects) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(p.customer_id, 'project', p.status::text, NULL)
    || search_words(p.id, 'A') || search_words(p.title, 'A') || search_words(p.brief, 'B') || search_words(p.workflow_slug, 'C');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of(a artifacts) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(a.customer_id, 'artifact', NULL, NULL)
    || search_words(a.id::text, 'A') || search_words(a.phase_slug, 'A') || search_words(a.content #>> '{}', 'B');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of(f run_artifacts) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(f.customer_id, 'file', NULL, f.agent) || search_words(f.id::text, 'A') || search_words(f.filename, 'A');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of(f attachments) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(f.customer_id, 'file', NULL, NULL) || search_words(f.id::text, 'A') || search_words(f.filename, 'A');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION text_of_event(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT concat_ws(' ', payload ->> 'error', payload ->> 'problem', payload ->> 'feedback', payload ->> 'comment', payload ->> 'instruction');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of_event(of_customer text, topic text, payload jsonb)
RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(of_customer, 'event', NULL, NULL) || search_words(topic, 'B') || search_words(text_of_event(payload), 'B');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION title_of_run_event(event_type run_event_type, status text)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT replace(replace(event_type::text, 'claude_', 'model_'), '_', ' ') || ' ' || status;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION text_of_run_event(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT concat_ws(': ', coalesce(payload ->> 'tool', payload ->> 'code'), payload ->> 'error',
    regexp_replace(regexp_replace(payload ->> 'result_preview', '^\{"error":"|"\}$', '', 'g'), '\\[nrt"]', ' ', 'g'));
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words_of(e run_events) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT search_marks(e.customer_id, 'event', NULL, (SELECT r.agent FROM runs r WHERE r.id = e.run_id))
    || search_words(title_of_run_event(e.event_type, e.status), 'B') || search_words(text_of_run_event(e.payload), 'B');
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION keep_tally(
  list text, of_table regclass, place text, dims text, counts text, usd text, changes text
) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
  old_dims text := regexp_replace(dims, '\mr\.', 'old.', 'g');
  new_dims text := regexp_replace(dims, '\mr\.', 'new.', 'g');
  old_counts text := regexp_replace(counts, '\mr\.', 'old.', 'g');
  new_counts text := regexp_replace(counts, '\mr\.', 'new.', 'g');
  old_usd text := regexp_replace(usd, '\mr\.', 'old.', 'g');
  new_usd text := regexp_replace(usd, '\mr\.', 'new.', 'g');
BEGIN
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
      SELECT r.customer_id, %L, %s, (%s) >> 10, count(*), sum(%s) FROM added r WHERE %s GROUP BY 1, 3, 4;
      RETURN NULL;
    END $body$ $f$, 'tally_' || list || '_added', list, dims, place, usd, counts);
  EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION %1$I()', 'tally_' || list || '_added', of_table);
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
      SELECT r.customer_id, %L, %s, (%s) >> 10, -count(*), -sum(%s) FROM removed r WHERE %s GROUP BY 1, 3, 4;
      RETURN NULL;
    END $body$ $f$, 'tally_' || list || '_removed', list, dims, place, usd, counts);
  EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %1$I()', 'tally_' || list || '_removed', of_table);
  IF changes IS NOT NULL THEN
    EXECUTE format($f$
      CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN
        INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
        SELECT old.customer_id, %2$L, %3$s, (%4$s) >> 10, -1, -(%5$s) WHERE %6$s UNION ALL
        SELECT new.customer_id, %2$L, %7$s, (%8$s) >> 10, 1, %9$s WHERE %10$s;
        RETURN NULL;
      END $body$ $f$, 'tally_' || list || '_changed', list,
      old_dims, regexp_replace(place, '\mr\.', 'old.', 'g'), old_usd, old_counts,
      new_dims, regexp_replace(place, '\mr\.', 'new.', 'g'), new_usd, new_counts);
    EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER UPDATE OF %s ON %s FOR EACH ROW
      WHEN (((%4$s) OR (%5$s)) AND ROW(%6$s, %4$s, %7$s) IS DISTINCT FROM ROW(%8$s, %5$s, %9$s)) EXECUTE FUNCTION %1$I()',
      'tally_' || list || '_changed', changes, of_table, old_counts, new_counts, old_dims, old_usd, new_dims, new_usd);
  END IF;
  EXECUTE format('CREATE OR REPLACE VIEW %I AS SELECT r.customer_id, %s AS dims, %s AS place, (%s)::numeric AS usd FROM %s r WHERE %s',
    'counted_' || list, dims, place, usd, of_table, counts);
END $make$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION recount_tally(of_list text, of_table regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', of_table);
  DELETE FROM tally_deltas d WHERE d.list = of_list;
  DELETE FROM tallies t WHERE t.list = of_list;
  EXECUTE format('INSERT INTO tallies (customer_id, list, dims, level, block, rows, usd)
    SELECT customer_id, %L, dims, 1, place >> 10, count(*), sum(usd) FROM %I GROUP BY 1, 3, 5', of_list, 'counted_' || of_list);
  INSERT INTO tallies (customer_id, list, dims, level, block, rows, usd)
  SELECT t.customer_id, of_list, t.dims, above, t.block >> 5 * (above - 1), sum(t.rows), sum(t.usd)
  FROM tallies t CROSS JOIN generate_series(2, 5) above WHERE t.list = of_list AND t.level = 1 GROUP BY 1, 3, 4, 5;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION seek_tally(
  of_list text, of_customer text, wanted text[], skipped bigint, OUT below bigint, OUT rest bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  lowest bigint := 0;
  highest bigint := 9223372036854775807;
  here record;
BEGIN
  rest := skipped;
  FOR at_level IN REVERSE 5..1 LOOP
    SELECT s.block, s.through - s.rows AS before INTO here FROM (
      SELECT c.block, sum(c.rows) AS rows, sum(sum(c.rows)) OVER (ORDER BY c.block DESC) AS through FROM (
        SELECT t.block, t.rows FROM tallies t
        WHERE t.list = of_list AND t.customer_id = of_customer AND t.level = at_level AND t.block BETWEEN lowest AND highest
          AND (wanted[1] IS NULL OR t.dims[1] = wanted[1]) AND (wanted[2] IS NULL OR t.dims[2] = wanted[2])
        UNION ALL
        SELECT d.block >> 5 * (at_level - 1), d.rows FROM tally_deltas d
        WHERE d.list = of_list AND d.customer_id = of_customer
          AND d.block >> 5 * (at_level - 1) BETWEEN lowest AND highest
          AND (wanted[1] IS NULL OR d.dims[1] = wanted[1]) AND (wanted[2] IS NULL OR d.dims[2] = wanted[2])
      ) c GROUP BY c.block
    ) s WHERE s.through > rest ORDER BY s.block DESC LIMIT 1;
    IF NOT FOUND THEN
      below := 0;
      rest := 0;
      RETURN;
    END IF;
    rest := rest - here.before;
    lowest := here.block << 5;
    highest := lowest + 31;
  END LOOP;
  below := (here.block + 1) << 10;
END $$;--> statement-breakpoint
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
  WHERE c.lost_at IS NOT NULL AND c.status = 'pending' AND r.status IN ('queued', 'running');--> statement-breakpoint
SELECT keep_tally(
  'audit_log', 'audit_log',
  place => 'r.id',
  dims => 'array[r.action, r.actor]',
  counts => 'true',
  usd => '0',
  changes => NULL
);--> statement-breakpoint
SELECT keep_tally(
  'wallet_ledger', 'wallet_ledger',
  place => 'r.id',
  dims => 'array[r.kind::text]',
  counts => 'true',
  usd => 'r.delta_usd_micros / 1000000.0',
  changes => NULL
);--> statement-breakpoint
SELECT keep_tally(
  'chat_threads', 'chat_threads',
  place => '0::bigint',
  dims => 'array[]::text[]',
  counts => 'true',
  usd => '0',
  changes => NULL
);--> statement-breakpoint
SELECT keep_tally(
  'memory_entries', 'memory_entries',
  place => '0::bigint',
  dims => 'array[r.agent, r.type, r.scope]',
  counts => 'true',
  usd => '0',
  changes => 'agent, type, scope'
);--> statement-breakpoint
SELECT keep_tally(
  'output_deliveries', 'output_deliveries',
  place => '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4',
  dims => 'array[r.status::text, r.destination_id::text]',
  counts => 'true',
  usd => '0',
  changes => 'status'
);--> statement-breakpoint
SELECT keep_tally(
  'projects', 'projects',
  place => 'r.seq',
  dims => 'array[r.status::text, r.workflow_slug]',
  counts => 'true',
  usd => '0',
  changes => 'status'
);--> statement-breakpoint
SELECT keep_tally(
  'project_events', 'project_events',
  place => '0::bigint',
  dims => 'array[r.category::text, r.level::text]',
  counts => 'true',
  usd => '0',
  changes => NULL
);--> statement-breakpoint
SELECT keep_tally(
  'webhook_gates', 'subtasks',
  place => '0::bigint',
  dims => 'array[r.status::text]',
  counts => 'r.gate_kind = ''webhook''',
  usd => '0',
  changes => 'status'
);--> statement-breakpoint
SELECT keep_tally(
  'run_artifacts', 'run_artifacts',
  place => '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4',
  dims => 'array[r.agent]',
  counts => 'true',
  usd => '0',
  changes => NULL
);--> statement-breakpoint
SELECT keep_tally(
  'runs', 'runs',
  place => 'r.seq',
  dims => 'array[r.agent, r.transport]',
  counts => 'true',
  usd => '0',
  changes => 'agent, transport'
);--> statement-breakpoint
SELECT keep_tally(
  'run_outcomes', 'runs',
  place => '0::bigint',
  dims => 'array[r.agent, r.status::text]',
  counts => 'r.completed_at is not null',
  usd => 'r.cost_usd',
  changes => 'agent, status, cost_usd, completed_at'
);--> statement-breakpoint
SELECT keep_tally(
  'webhook_deliveries', 'webhook_deliveries',
  place => '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4',
  dims => 'array[r.status::text, r.subscription_id::text]',
  counts => 'true',
  usd => '0',
  changes => 'status'
);--> statement-breakpoint
CREATE CONSTRAINT TRIGGER budgets_wallet_made AFTER INSERT ON budgets DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (new.id LIKE 'wallet:%')
  EXECUTE FUNCTION wallet_balance_is_of_ledger();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER budgets_wallet_moved AFTER UPDATE OF id, customer_id, limit_usd ON budgets DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (old.id LIKE 'wallet:%' OR new.id LIKE 'wallet:%')
  EXECUTE FUNCTION wallet_balance_is_of_ledger();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER budgets_wallet_gone AFTER DELETE ON budgets DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (old.id LIKE 'wallet:%')
  EXECUTE FUNCTION wallet_balance_is_of_ledger();--> statement-breakpoint
CREATE TRIGGER wallet_ledger_post BEFORE INSERT ON wallet_ledger
  FOR EACH ROW
  EXECUTE FUNCTION wallet_ledger_post();--> statement-breakpoint
CREATE TRIGGER wallet_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_ledger
  FOR EACH STATEMENT
  EXECUTE FUNCTION wallet_ledger_refuse();--> statement-breakpoint
CREATE TRIGGER note_spending AFTER INSERT OR UPDATE OF spent_usd, limit_usd, alert_at ON budgets
  FOR EACH ROW
  WHEN (new.period IS NOT NULL AND new.limit_usd > 0 AND new.spent_usd > 0)
  EXECUTE FUNCTION note_spending();--> statement-breakpoint
CREATE TRIGGER note_unpriced AFTER UPDATE OF is_priced ON runs
  FOR EACH ROW
  WHEN (old.is_priced AND NOT new.is_priced)
  EXECUTE FUNCTION note_unpriced();--> statement-breakpoint
CREATE TRIGGER log_opened_wait AFTER INSERT ON waits
  FOR EACH ROW
  WHEN (new.settled_at IS NULL)
  EXECUTE FUNCTION log_wait();--> statement-breakpoint
CREATE TRIGGER log_changed_wait AFTER UPDATE OF revision, settled_at ON waits
  FOR EACH ROW
  WHEN (old.settled_at IS NULL AND (old.revision, old.settled_at) IS DISTINCT FROM (new.revision, new.settled_at))
  EXECUTE FUNCTION log_wait();--> statement-breakpoint
CREATE TRIGGER tell_of_new_wait AFTER INSERT ON waits
  FOR EACH ROW
  WHEN (new.settled_at IS NULL)
  EXECUTE FUNCTION tell_of_wait();--> statement-breakpoint
CREATE TRIGGER tell_of_changed_wait AFTER UPDATE OF revision, settled_at, escalated_at, reminders, reminders_by_hand ON waits
  FOR EACH ROW
  WHEN (old.settled_at IS NULL AND (old.revision, old.settled_at, old.escalated_at, old.reminders, old.reminders_by_hand)
    IS DISTINCT FROM (new.revision, new.settled_at, new.escalated_at, new.reminders, new.reminders_by_hand))
  EXECUTE FUNCTION tell_of_wait();--> statement-breakpoint
CREATE TRIGGER waits_of_new_artifact AFTER INSERT ON artifacts
  FOR EACH ROW
  WHEN (NOT new.superseded)
  EXECUTE FUNCTION waits_of_artifact();--> statement-breakpoint
CREATE TRIGGER waits_of_chosen_artifact AFTER UPDATE OF superseded ON artifacts
  FOR EACH ROW
  WHEN (old.superseded AND NOT new.superseded)
  EXECUTE FUNCTION waits_of_artifact();--> statement-breakpoint
CREATE TRIGGER waits_of_call AFTER UPDATE OF status ON run_tool_calls
  FOR EACH ROW
  WHEN (new.tool = 'ask_human' AND old.status = 'pending' AND new.status <> 'pending')
  EXECUTE FUNCTION waits_of_call();--> statement-breakpoint
CREATE TRIGGER waits_of_gate AFTER UPDATE OF status ON subtasks
  FOR EACH ROW
  WHEN (new.gate_kind IN ('human', 'webhook') AND old.status IS DISTINCT FROM new.status AND 'blocked' IN (old.status, new.status))
  EXECUTE FUNCTION waits_of_gate();--> statement-breakpoint
CREATE TRIGGER waits_of_lost_call AFTER UPDATE OF lost_at, status ON run_tool_calls
  FOR EACH ROW
  WHEN (new.lost_at IS NOT NULL AND old.status = 'pending' AND (old.lost_at IS NULL OR new.status <> 'pending'))
  EXECUTE FUNCTION waits_of_lost_call();--> statement-breakpoint
CREATE TRIGGER waits_of_new_page AFTER INSERT ON miniapp_pages
  FOR EACH ROW
  EXECUTE FUNCTION waits_of_page();--> statement-breakpoint
CREATE TRIGGER waits_of_project AFTER UPDATE OF status, pause_reason ON projects
  FOR EACH ROW
  WHEN ('paused' IN (old.status, new.status) AND (old.status, old.pause_reason) IS DISTINCT FROM (new.status, new.pause_reason))
  EXECUTE FUNCTION waits_of_project();--> statement-breakpoint
CREATE TRIGGER waits_of_run AFTER UPDATE OF status ON runs
  FOR EACH ROW
  WHEN (old.status IN ('queued', 'running') AND new.status NOT IN ('queued', 'running'))
  EXECUTE FUNCTION waits_of_run();--> statement-breakpoint
CREATE TRIGGER withdraw_links_of_member AFTER DELETE ON workspace_members
  FOR EACH ROW
  EXECUTE FUNCTION withdraw_links_of_member();--> statement-breakpoint
CREATE TRIGGER search_new_run AFTER INSERT ON runs
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('run');--> statement-breakpoint
CREATE TRIGGER search_changed_run AFTER UPDATE OF agent, completed_at ON runs
  FOR EACH ROW
  WHEN ((old.agent, old.completed_at) IS DISTINCT FROM (new.agent, new.completed_at))
  EXECUTE FUNCTION search_document_of_row('run');--> statement-breakpoint
CREATE TRIGGER search_new_project AFTER INSERT ON projects
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('project');--> statement-breakpoint
CREATE TRIGGER search_changed_project AFTER UPDATE OF status, title, brief ON projects
  FOR EACH ROW
  WHEN ((old.status, old.title, old.brief) IS DISTINCT FROM (new.status, new.title, new.brief))
  EXECUTE FUNCTION search_document_of_row('project');--> statement-breakpoint
CREATE TRIGGER search_new_artifact AFTER INSERT ON artifacts
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('artifact');--> statement-breakpoint
CREATE TRIGGER search_new_file AFTER INSERT ON run_artifacts
  FOR EACH ROW
  EXECUTE FUNCTION search_document_of_row('file');--> statement-breakpoint
CREATE TRIGGER search_new_event AFTER INSERT ON project_events
  FOR EACH ROW
  WHEN (text_of_event(new.payload) <> '')
  EXECUTE FUNCTION search_document_of_row('event');--> statement-breakpoint
CREATE TRIGGER search_new_log_event AFTER INSERT ON log_events
  FOR EACH ROW
  WHEN (text_of_event(new.payload) <> '')
  EXECUTE FUNCTION search_document_of_row('event');--> statement-breakpoint
CREATE TRIGGER search_new_attachment AFTER INSERT ON attachments
  FOR EACH ROW
  WHEN (new.owner_kind <> 'upload')
  EXECUTE FUNCTION search_document_of_row('file');--> statement-breakpoint
CREATE TRIGGER search_taken_attachment AFTER UPDATE OF owner_kind ON attachments
  FOR EACH ROW
  WHEN (new.owner_kind <> 'upload')
  EXECUTE FUNCTION search_document_of_row('file');--> statement-breakpoint
CREATE TRIGGER search_released_attachment AFTER UPDATE OF owner_kind ON attachments
  FOR EACH ROW
  WHEN (new.owner_kind = 'upload')
  EXECUTE FUNCTION search_document_of_row_gone('file');--> statement-breakpoint
CREATE TRIGGER search_new_run_event AFTER INSERT ON run_events
  FOR EACH ROW
  WHEN (new.status IN ('failed', 'aborted') AND new.event_type IN ('tool_result', 'claude_request'))
  EXECUTE FUNCTION search_document_of_run_event();--> statement-breakpoint
CREATE TRIGGER search_run_event_gone AFTER DELETE ON run_events
  FOR EACH ROW
  WHEN (old.status IN ('failed', 'aborted') AND old.event_type IN ('tool_result', 'claude_request'))
  EXECUTE FUNCTION search_document_of_run_event_gone();--> statement-breakpoint
CREATE TRIGGER search_runs_gone AFTER DELETE ON runs
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('run');--> statement-breakpoint
CREATE TRIGGER search_projects_gone AFTER DELETE ON projects
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('project');--> statement-breakpoint
CREATE TRIGGER search_artifacts_gone AFTER DELETE ON artifacts
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('artifact');--> statement-breakpoint
CREATE TRIGGER search_files_gone AFTER DELETE ON run_artifacts
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('file');--> statement-breakpoint
CREATE TRIGGER search_attachments_gone AFTER DELETE ON attachments
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('file');--> statement-breakpoint
CREATE TRIGGER search_events_gone AFTER DELETE ON project_events
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_gone('event');--> statement-breakpoint
CREATE TRIGGER search_log_events_gone AFTER DELETE ON log_events
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT
  EXECUTE FUNCTION search_documents_of_log_gone();
