DROP INDEX "projects_under_way";--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "queued_by" jsonb;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "consumed" jsonb;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "answered_by" jsonb;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "spared_for" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "outdated_by" jsonb;--> statement-breakpoint
CREATE INDEX "projects_under_way" ON "projects" USING btree ("customer_id","checked_at") WHERE "projects"."status" in ('planning', 'active') or "projects"."checked_at" < "projects"."abandoned_at";