CREATE TYPE "public"."billing_currency" AS ENUM('IDR', 'USD');--> statement-breakpoint
CREATE TYPE "public"."ledger_kind" AS ENUM('topup', 'run', 'model_router', 'managed_infra', 'refund', 'adjustment');--> statement-breakpoint
CREATE TYPE "public"."crm_status" AS ENUM('lead', 'trial', 'active', 'at_risk', 'churned');--> statement-breakpoint
CREATE TYPE "public"."destination_kind" AS ENUM('webhook', 'slack', 'email', 's3');--> statement-breakpoint
CREATE TYPE "public"."output_delivery_status" AS ENUM('pending', 'delivered', 'failed');--> statement-breakpoint
CREATE TYPE "public"."member_role" AS ENUM('owner', 'admin', 'member');--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"target" jsonb NOT NULL,
	"change" jsonb NOT NULL,
	"status" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "billing_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"payload" jsonb NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	"processed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "billing_leases" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"token" uuid NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "router_keys" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"key_hash" text NOT NULL,
	"limit_usd" numeric(20, 8) NOT NULL,
	"sealed" text NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"told_revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "router_keys_limited" CHECK ("router_keys"."limit_usd" >= 0)
);
--> statement-breakpoint
CREATE TABLE "topups" (
	"session_id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"currency" "billing_currency" NOT NULL,
	"charged_cents" bigint NOT NULL,
	"credit_usd_micros" bigint NOT NULL,
	"fx_usd_idr" numeric(14, 4) NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "wallet_ledger" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"key" text NOT NULL,
	"delta_usd_micros" bigint NOT NULL,
	"balance_after_usd_micros" bigint NOT NULL,
	"kind" "ledger_kind" NOT NULL,
	"paid_idr_cents" bigint,
	"fx_usd_idr" numeric(14, 4),
	"meta" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chat_threads" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"title" text,
	"agent_slug" text,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crm_customers" (
	"customer_id" text PRIMARY KEY NOT NULL,
	"status" "crm_status" NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crm_notes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"author" text NOT NULL,
	"text" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "feature_flags" (
	"name" text PRIMARY KEY NOT NULL,
	"description" text,
	"enabled" boolean NOT NULL,
	"workspaces" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "output_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"destination_id" uuid NOT NULL,
	"project_id" text NOT NULL,
	"artifact_id" uuid NOT NULL,
	"status" "output_delivery_status" DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"redeliveries" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "output_destinations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" "destination_kind" NOT NULL,
	"config" jsonb NOT NULL,
	"sealed" text,
	"workflow_slugs" text[],
	"enabled" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_overrides" (
	"customer_id" text NOT NULL,
	"job_id" text NOT NULL,
	"cron" text,
	"enabled" boolean,
	"revision" integer DEFAULT 1 NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_overrides_customer_id_job_id_pk" PRIMARY KEY("customer_id","job_id")
);
--> statement-breakpoint
CREATE TABLE "ended_sessions" (
	"session_hash" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "login_challenges" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"code_hmac" text NOT NULL,
	"wrong_codes" integer DEFAULT 0 NOT NULL,
	"used_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "login_locks" (
	"email" text PRIMARY KEY NOT NULL,
	"wrong_in_a_row" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "session_cutoffs" (
	"customer_id" text NOT NULL,
	"sub" text NOT NULL,
	"not_before" timestamp with time zone NOT NULL,
	CONSTRAINT "session_cutoffs_customer_id_sub_pk" PRIMARY KEY("customer_id","sub")
);
--> statement-breakpoint
CREATE TABLE "workspace_members" (
	"id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"email" text NOT NULL,
	"role" "member_role" NOT NULL,
	"invited_by" text NOT NULL,
	"last_login_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "provisioned" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "generation" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "destroying_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "infra_charged_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD CONSTRAINT "chat_threads_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crm_customers" ADD CONSTRAINT "crm_customers_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crm_notes" ADD CONSTRAINT "crm_notes_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD CONSTRAINT "output_deliveries_destination_id_output_destinations_id_fk" FOREIGN KEY ("destination_id") REFERENCES "public"."output_destinations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD CONSTRAINT "output_destinations_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_overrides" ADD CONSTRAINT "job_overrides_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_log_by_workspace" ON "audit_log" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_time" ON "audit_log" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "billing_events_by_object" ON "billing_events" USING btree (("payload" #>> '{data,object,id}'));--> statement-breakpoint
CREATE INDEX "run_artifacts_by_workspace" ON "run_artifacts" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "topups_by_workspace" ON "topups" USING btree ("customer_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_ledger_once" ON "wallet_ledger" USING btree ("customer_id","key");--> statement-breakpoint
CREATE INDEX "wallet_ledger_by_workspace" ON "wallet_ledger" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "chat_threads_by_use" ON "chat_threads" USING btree ("customer_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "crm_notes_by_customer" ON "crm_notes" USING btree ("customer_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "output_deliveries_once" ON "output_deliveries" USING btree ("destination_id","artifact_id");--> statement-breakpoint
CREATE INDEX "output_deliveries_by_workspace" ON "output_deliveries" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "output_deliveries_by_status" ON "output_deliveries" USING btree ("status","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "output_destinations_by_name" ON "output_destinations" USING btree ("customer_id","name");--> statement-breakpoint
CREATE INDEX "ended_sessions_by_expiry" ON "ended_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_challenges_by_expiry" ON "login_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_challenges_by_email" ON "login_challenges" USING btree ("email","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "workspace_members_once" ON "workspace_members" USING btree ("customer_id","email");--> statement-breakpoint
CREATE INDEX "workspace_members_by_email" ON "workspace_members" USING btree ("email");--> statement-breakpoint
ALTER TABLE "wallet_ledger" ADD CONSTRAINT "wallet_ledger_charges_are_negative" CHECK (case when "wallet_ledger"."kind" = 'topup' then "wallet_ledger"."delta_usd_micros" > 0 when "wallet_ledger"."kind" in ('run', 'model_router', 'managed_infra') then "wallet_ledger"."delta_usd_micros" < 0 else "wallet_ledger"."delta_usd_micros" <> 0 end);--> statement-breakpoint
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_wallet_is_its_balance" CHECK ("budgets"."id" not like 'wallet:%' or ("budgets"."id" = 'wallet:' || "budgets"."customer_id" and "budgets"."limit_usd" is not null and "budgets"."spent_usd" = 0));--> statement-breakpoint
-- The balance of a wallet is the limit of its budget. A ledger row moves it, under the lock of the budget's row, so that
-- postings of one wallet go one after another: numbers follow the order of the balances, and a key counts once. A
-- repeated key inserts nothing, and is no error.
CREATE FUNCTION "wallet_ledger_post"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wallet text := 'wallet:' || new.customer_id;
BEGIN
  INSERT INTO budgets (id, customer_id, limit_usd) VALUES (wallet, new.customer_id, 0) ON CONFLICT (id) DO NOTHING;
  PERFORM 1 FROM budgets WHERE id = wallet FOR UPDATE;
  IF EXISTS (SELECT 1 FROM wallet_ledger l WHERE l.customer_id = new.customer_id AND l.key = new.key) THEN
    RETURN NULL;
  END IF;
  UPDATE budgets SET limit_usd = limit_usd + new.delta_usd_micros / 1000000.0 WHERE id = wallet
    RETURNING (limit_usd * 1000000)::bigint INTO new.balance_after_usd_micros;
  new.id := nextval('wallet_ledger_id_seq');
  RETURN new;
END $$;--> statement-breakpoint
CREATE TRIGGER "wallet_ledger_post" BEFORE INSERT ON "wallet_ledger" FOR EACH ROW EXECUTE FUNCTION "wallet_ledger_post"();--> statement-breakpoint
CREATE FUNCTION "wallet_ledger_refuse"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'wallet_ledger is append-only: post a refund or an adjustment instead' USING ERRCODE = 'restrict_violation';
END $$;--> statement-breakpoint
CREATE TRIGGER "wallet_ledger_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "wallet_ledger" FOR EACH STATEMENT EXECUTE FUNCTION "wallet_ledger_refuse"();--> statement-breakpoint
-- Holds the balance to the ledger whoever moved it, at the end of the transaction: each row adds its delta to the
-- balance before it, so the last row's balance is the sum of all of them, and the cost of the check does not grow.
CREATE FUNCTION "wallet_balance_is_of_ledger"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  customer text := (coalesce(old, new)).customer_id;
  balance numeric := (SELECT limit_usd FROM budgets WHERE id = 'wallet:' || customer);
  of_ledger bigint := (
    SELECT balance_after_usd_micros FROM wallet_ledger WHERE customer_id = customer ORDER BY id DESC LIMIT 1);
BEGIN
  IF coalesce(balance, 0) * 1000000 <> coalesce(of_ledger, 0) THEN
    RAISE EXCEPTION 'the balance of wallet:% is kept by wallet_ledger alone', customer USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "budgets_wallet_made" AFTER INSERT ON "budgets" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.id LIKE 'wallet:%') EXECUTE FUNCTION "wallet_balance_is_of_ledger"();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "budgets_wallet_moved" AFTER UPDATE OF "id", "customer_id", "limit_usd" ON "budgets" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.id LIKE 'wallet:%' OR new.id LIKE 'wallet:%') EXECUTE FUNCTION "wallet_balance_is_of_ledger"();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "budgets_wallet_gone" AFTER DELETE ON "budgets" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.id LIKE 'wallet:%') EXECUTE FUNCTION "wallet_balance_is_of_ledger"();--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "checked_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "checked_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
CREATE INDEX "runs_in_flight" ON "runs" USING btree ("checked_at") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "projects_under_way" ON "projects" USING btree ("checked_at") WHERE "projects"."status" in ('planning', 'active');
