CREATE TABLE "project_commands" (
	"project_id" text NOT NULL,
	"command_id" text NOT NULL,
	"args" jsonb,
	"result" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "project_commands_project_id_command_id_pk" PRIMARY KEY("project_id","command_id")
);
--> statement-breakpoint
ALTER TABLE "project_commands" ADD CONSTRAINT "project_commands_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;