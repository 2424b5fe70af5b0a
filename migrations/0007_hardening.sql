ALTER TABLE "projects" ADD COLUMN "is_titled" boolean DEFAULT true NOT NULL;--> statement-breakpoint
CREATE TYPE "public"."output_recipient_answer" AS ENUM('confirmed', 'refused');--> statement-breakpoint
CREATE TABLE "output_mail_counts" (
	"day" date NOT NULL,
	"counted" text NOT NULL,
	"mails" integer NOT NULL,
	CONSTRAINT "output_mail_counts_day_counted_pk" PRIMARY KEY("day","counted")
);
--> statement-breakpoint
CREATE TABLE "output_recipients" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"destination_id" uuid NOT NULL,
	"email" text NOT NULL,
	"answer" "output_recipient_answer",
	"answered_at" timestamp with time zone,
	"asked_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "otp_challenges" ADD COLUMN "recipient" text;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "withheld_from" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "login_challenges" ADD COLUMN "known" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "secrets_bound" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "output_recipients" ADD CONSTRAINT "output_recipients_destination_id_output_destinations_id_fk" FOREIGN KEY ("destination_id") REFERENCES "public"."output_destinations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "output_recipients_once" ON "output_recipients" USING btree ("destination_id","email");--> statement-breakpoint
CREATE INDEX "otp_challenges_by_workspace" ON "otp_challenges" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE INDEX "otp_challenges_by_recipient" ON "otp_challenges" USING btree ("recipient","created_at");--> statement-breakpoint
-- By hand: the addresses of destinations that there are. Members go on, whoever else is on a list is asked once.
INSERT INTO "output_recipients" ("destination_id", "email")
SELECT "d"."id", lower("listed"."email")
FROM "output_destinations" "d"
CROSS JOIN LATERAL jsonb_array_elements_text(
	CASE jsonb_typeof("d"."config"->'to') WHEN 'array' THEN "d"."config"->'to' ELSE '[]' END
) AS "listed"("email")
WHERE "d"."kind" = 'email'
ON CONFLICT DO NOTHING;--> statement-breakpoint
CREATE TABLE "former_members" (
	"customer_id" text NOT NULL,
	"email" text NOT NULL,
	"removed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "former_members_customer_id_email_pk" PRIMARY KEY("customer_id","email")
);
--> statement-breakpoint
ALTER TABLE "former_members" ADD CONSTRAINT "former_members_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "granted_plan" "workspace_plan";--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "paid_plan" "workspace_plan";--> statement-breakpoint
-- Nobody loses the plan that it has: it was given by the operator, or it comes with a subscription and ends with it.
UPDATE "workspaces" SET "granted_plan" = "plan"
	WHERE "status" <> 'archived' AND "plan" <> 'internal' AND ("plan" = 'scale' OR "config" ->> 'billing_subscription_id' IS NULL);--> statement-breakpoint
UPDATE "workspaces" SET "paid_plan" = "plan"
	WHERE "plan" NOT IN ('internal', 'free', 'scale') AND "config" ->> 'billing_subscription_id' IS NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "plan_in_force" "workspace_plan" GENERATED ALWAYS AS (case when plan = 'internal' then plan else greatest(granted_plan, paid_plan, 'free'::workspace_plan) end) STORED NOT NULL;--> statement-breakpoint
CREATE TABLE "delivery_slots" (
	"host" text NOT NULL,
	"n" integer NOT NULL,
	"holder" text,
	"customer_id" text,
	"held_until" timestamp with time zone DEFAULT now() NOT NULL,
	"booked_until" timestamp with time zone DEFAULT now() NOT NULL,
	"last_ms" integer DEFAULT 1000 NOT NULL,
	CONSTRAINT "delivery_slots_host_n_pk" PRIMARY KEY("host","n")
);
--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"customer_id" text NOT NULL,
	"event_key" text NOT NULL,
	"body" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_events_customer_id_event_key_pk" PRIMARY KEY("customer_id","event_key")
);
--> statement-breakpoint
DROP INDEX "output_deliveries_by_status";--> statement-breakpoint
DROP INDEX "projects_planning";--> statement-breakpoint
DROP INDEX "runs_waiting";--> statement-breakpoint
DROP INDEX "projects_under_way";--> statement-breakpoint
DROP INDEX "runs_in_flight";--> statement-breakpoint
DROP INDEX "webhook_deliveries_once";--> statement-breakpoint
DROP INDEX "webhook_deliveries_pending";--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ALTER COLUMN "body" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD COLUMN "paused_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD COLUMN "pause_told_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "start_due_at" timestamp with time zone DEFAULT now() + interval '15 seconds';--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "start_due_at" timestamp with time zone DEFAULT now() + interval '15 seconds';--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "paused_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "pause_told_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "due_at" timestamp with time zone DEFAULT now() + interval '15 seconds' NOT NULL;--> statement-breakpoint
CREATE INDEX "delivery_slots_by_time" ON "delivery_slots" USING btree ("held_until");--> statement-breakpoint
CREATE INDEX "webhook_events_by_time" ON "webhook_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "output_deliveries_pending" ON "output_deliveries" USING btree ("customer_id","due_at") WHERE "output_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "output_destinations_paused" ON "output_destinations" USING btree ("paused_at") WHERE "output_destinations"."paused_at" is not null and "output_destinations"."pause_told_at" is null;--> statement-breakpoint
CREATE INDEX "projects_unstarted" ON "projects" USING btree ("customer_id","start_due_at") WHERE "projects"."status" = 'planning' and "projects"."start_due_at" is not null;--> statement-breakpoint
CREATE INDEX "runs_unstarted" ON "runs" USING btree ("customer_id","start_due_at") WHERE "runs"."status" = 'queued' and "runs"."start_due_at" is not null;--> statement-breakpoint
CREATE INDEX "webhook_subscriptions_paused" ON "webhook_subscriptions" USING btree ("paused_at") WHERE "webhook_subscriptions"."paused_at" is not null and "webhook_subscriptions"."pause_told_at" is null;--> statement-breakpoint
CREATE INDEX "workspaces_pending" ON "workspaces" USING btree ("due_at") WHERE "workspaces"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "workspaces_provisioning" ON "workspaces" USING btree ("due_at") WHERE "workspaces"."status" = 'provisioning';--> statement-breakpoint
CREATE INDEX "projects_under_way" ON "projects" USING btree ("customer_id","checked_at") WHERE "projects"."status" in ('planning', 'active');--> statement-breakpoint
CREATE INDEX "runs_in_flight" ON "runs" USING btree ("customer_id","checked_at") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_once" ON "webhook_deliveries" USING btree ("event_key","subscription_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("customer_id","due_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
-- As its deliveries: vacuumed and looked at after changes to a fiftieth of it.
ALTER TABLE "webhook_events" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
