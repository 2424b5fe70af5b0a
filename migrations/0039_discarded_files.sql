CREATE TABLE "discarded_files" (
	"key" text PRIMARY KEY NOT NULL,
	"deleted_at" timestamp with time zone,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "discarded_files_due" ON "discarded_files" USING btree ("due_at");