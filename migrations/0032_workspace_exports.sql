CREATE TYPE "public"."export_phase" AS ENUM('rows', 'files', 'closing');--> statement-breakpoint
CREATE TYPE "public"."export_status" AS ENUM('queued', 'running', 'ready', 'failed', 'removed');--> statement-breakpoint
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
);
--> statement-breakpoint
ALTER TABLE "workspace_exports" ADD CONSTRAINT "workspace_exports_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "workspace_exports_by_workspace" ON "workspace_exports" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "workspace_exports_one_under_way" ON "workspace_exports" USING btree ("customer_id") WHERE "workspace_exports"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "workspace_exports_under_way" ON "workspace_exports" USING btree ("customer_id","due_at") WHERE "workspace_exports"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "workspace_exports_by_expiry" ON "workspace_exports" USING btree ("expires_at") WHERE "workspace_exports"."status" = 'ready';