ALTER TYPE "public"."run_event_type" ADD VALUE 'model_failover' BEFORE 'context_loaded';--> statement-breakpoint
ALTER TABLE "agent_settings" ADD COLUMN "effort" text;--> statement-breakpoint
ALTER TABLE "agent_settings" ADD COLUMN "max_output_tokens" integer;--> statement-breakpoint
ALTER TABLE "agent_settings" ADD COLUMN "fallback_models" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "effort" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "output_schema" jsonb;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "saved_usd" numeric(20, 8) DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "scheduled_jobs" ADD COLUMN "output_schema" jsonb;