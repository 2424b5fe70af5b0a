CREATE TABLE "wait_delegations" (
	"wait_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"delegator" text NOT NULL,
	"stand_in" text NOT NULL,
	"until" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "wait_delegations_wait_id_delegator_pk" PRIMARY KEY("wait_id","delegator")
);
--> statement-breakpoint
ALTER TABLE "wait_votes" ADD COLUMN "seat" text;--> statement-breakpoint
ALTER TABLE "waits" ADD COLUMN "reminders_by_hand" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "waits" ADD COLUMN "reminded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "wait_delegations" ADD CONSTRAINT "wait_delegations_wait_id_waits_id_fk" FOREIGN KEY ("wait_id") REFERENCES "public"."waits"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- By hand: whose place an answer of theirs counts for. Their own, where the gate names them; else that of a named one whom they stand
-- in for, for as long as both still are what they were: the one among the approvers, the other a member who may answer at all. Null: it does not count.
CREATE FUNCTION "seat_at"(of_wait uuid, of_customer text, config jsonb, is_escalated boolean, who text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN may_answer(config, is_escalated, who, (
    SELECT m.role::text FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = lower(who))) THEN who
  ELSE (
    SELECT d.delegator FROM wait_delegations d
      JOIN workspace_members stand_in ON stand_in.customer_id = d.customer_id AND stand_in.email = d.stand_in
    WHERE d.wait_id = of_wait AND d.customer_id = of_customer AND d.stand_in = lower(who) AND d.until > now()
      AND may_answer(NULL, false, d.stand_in, stand_in.role::text)
      AND may_answer(config, is_escalated, d.delegator, (
        SELECT m.role::text FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = lower(d.delegator)))
    ORDER BY d.created_at, d.delegator LIMIT 1) END;
$$;
