CREATE TYPE "public"."import_phase" AS ENUM('checking', 'bringing');--> statement-breakpoint
CREATE TYPE "public"."import_status" AS ENUM('uploading', 'queued', 'running', 'done', 'failed', 'removed');--> statement-breakpoint
CREATE TABLE "workspace_imports" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"status" "import_status" DEFAULT 'uploading' NOT NULL,
	"requested_by" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"parts" integer DEFAULT 0 NOT NULL,
	"phase" "import_phase",
	"archive_id" uuid,
	"source" text,
	"as_of" timestamp with time zone,
	"entries" integer,
	"are_ids_taken" boolean,
	"position" integer DEFAULT 0 NOT NULL,
	"result" jsonb,
	"error_code" text,
	"error_message" text,
	"due_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "workspace_imports" ADD CONSTRAINT "workspace_imports_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "workspace_imports_by_workspace" ON "workspace_imports" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "workspace_imports_one_open" ON "workspace_imports" USING btree ("customer_id") WHERE "workspace_imports"."status" in ('uploading', 'queued', 'running');--> statement-breakpoint
CREATE INDEX "workspace_imports_under_way" ON "workspace_imports" USING btree ("customer_id","due_at") WHERE "workspace_imports"."status" in ('uploading', 'queued', 'running');