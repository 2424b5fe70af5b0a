CREATE UNLOGGED TABLE "run_texts" (
	"run_id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"project_id" text,
	"turn" integer NOT NULL,
	"attempt" integer NOT NULL,
	"length" integer NOT NULL,
	"text" text NOT NULL,
	"written_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "text_watches" (
	"customer_id" text NOT NULL,
	"watched" text NOT NULL,
	"until" timestamp with time zone NOT NULL,
	CONSTRAINT "text_watches_customer_id_watched_pk" PRIMARY KEY("customer_id","watched")
);
--> statement-breakpoint
ALTER TABLE "run_texts" ADD CONSTRAINT "run_texts_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "run_texts_by_workspace" ON "run_texts" USING btree ("customer_id");