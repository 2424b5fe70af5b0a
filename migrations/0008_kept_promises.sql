ALTER TYPE "public"."pause_reason" ADD VALUE 'gate_expired';--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "consumed" jsonb;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "expiries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "spared" text[] DEFAULT '{}' NOT NULL;