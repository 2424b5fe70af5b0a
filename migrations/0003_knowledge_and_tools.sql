CREATE EXTENSION IF NOT EXISTS vector;--> statement-breakpoint
CREATE TYPE "public"."credential_health" AS ENUM('ok', 'unchecked', 'rate_limited', 'expired', 'invalid');--> statement-breakpoint
CREATE TYPE "public"."memory_edge_type" AS ENUM('links_to', 'supersedes', 'uses_tool', 'depends_on');--> statement-breakpoint
CREATE TYPE "public"."memory_status" AS ENUM('active', 'superseded', 'archived');--> statement-breakpoint
CREATE TYPE "public"."tool_access" AS ENUM('agent', 'human', 'both');--> statement-breakpoint
CREATE TYPE "public"."tool_kind" AS ENUM('stub', 'webhook', 'script', 'command', 'container', 'miniapp');--> statement-breakpoint
CREATE TYPE "public"."tool_shape" AS ENUM('cli', 'api', 'miniapp');--> statement-breakpoint
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
);
--> statement-breakpoint
CREATE TABLE "integration_secrets" (
	"customer_id" text NOT NULL,
	"slug" text NOT NULL,
	"dotted" text NOT NULL,
	"sealed" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "integration_secrets_customer_id_slug_dotted_pk" PRIMARY KEY("customer_id","slug","dotted")
);
--> statement-breakpoint
CREATE TABLE "memory_edges" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "memory_edges_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" text NOT NULL,
	"src_id" integer NOT NULL,
	"edge_type" "memory_edge_type" NOT NULL,
	"dst_slug" text,
	"dst_id" integer
);
--> statement-breakpoint
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
) WITH (fillfactor = 70); -- room for counts of recall to be updated in place: else each would be indexed anew
--> statement-breakpoint
COMMENT ON COLUMN "memory_entries"."embedding" IS 'universal-sentence-encoder-lite-en'; -- the model of the vectors
--> statement-breakpoint
CREATE TABLE "miniapp_pages" (
	"id" text PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"customer_id" text NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"tool" text NOT NULL,
	"html" text NOT NULL,
	"submitted" jsonb,
	"submitted_at" timestamp with time zone,
	"waits" text[] DEFAULT '{}' NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "miniapp_pages_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "otp_challenges" (
	"id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"operation" text NOT NULL,
	"scope" text NOT NULL,
	"body_hash" text NOT NULL,
	"code_hmac" text NOT NULL,
	"wrong_codes" integer DEFAULT 0 NOT NULL,
	"used_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "otp_locks" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"wrong_in_a_row" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone
);
--> statement-breakpoint
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
);
--> statement-breakpoint
ALTER TABLE "integration_credentials" ADD CONSTRAINT "integration_credentials_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "integration_secrets" ADD CONSTRAINT "integration_secrets_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_edges" ADD CONSTRAINT "memory_edges_src_id_memory_entries_id_fk" FOREIGN KEY ("src_id") REFERENCES "public"."memory_entries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_edges" ADD CONSTRAINT "memory_edges_dst_id_memory_entries_id_fk" FOREIGN KEY ("dst_id") REFERENCES "public"."memory_entries"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_entries" ADD CONSTRAINT "memory_entries_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "miniapp_pages" ADD CONSTRAINT "miniapp_pages_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "otp_challenges" ADD CONSTRAINT "otp_challenges_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "otp_locks" ADD CONSTRAINT "otp_locks_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tools" ADD CONSTRAINT "tools_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "integration_credentials_to_check" ON "integration_credentials" USING btree ("check_at");--> statement-breakpoint
CREATE UNIQUE INDEX "memory_edges_once" ON "memory_edges" USING btree ("src_id","edge_type","dst_slug") WHERE "memory_edges"."dst_slug" is not null;--> statement-breakpoint
CREATE INDEX "memory_edges_by_destination" ON "memory_edges" USING btree ("dst_id");--> statement-breakpoint
CREATE INDEX "memory_edges_by_slug" ON "memory_edges" USING btree ("customer_id","dst_slug");--> statement-breakpoint
CREATE UNIQUE INDEX "memory_entries_by_slug" ON "memory_entries" USING btree ("customer_id","slug") WHERE "memory_entries"."slug" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "memory_entries_by_call" ON "memory_entries" USING btree ("customer_id","call_key") WHERE "memory_entries"."call_key" is not null;--> statement-breakpoint
CREATE INDEX "memory_entries_skills" ON "memory_entries" USING btree ("customer_id","slug") WHERE "memory_entries"."type" = 'skill';--> statement-breakpoint
CREATE INDEX "memory_entries_newest" ON "memory_entries" USING btree ("customer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "memory_entries_by_embedding" ON "memory_entries" USING hnsw ("embedding" vector_cosine_ops) WITH (m=16,ef_construction=128);--> statement-breakpoint
CREATE UNIQUE INDEX "miniapp_pages_once_per_call" ON "miniapp_pages" USING btree ("run_id","call_id");--> statement-breakpoint
CREATE INDEX "miniapp_pages_untold" ON "miniapp_pages" USING btree ("submitted_at") WHERE "miniapp_pages"."submitted_at" is not null and "miniapp_pages"."waits" <> '{}';--> statement-breakpoint
CREATE INDEX "otp_challenges_by_expiry" ON "otp_challenges" USING btree ("expires_at");