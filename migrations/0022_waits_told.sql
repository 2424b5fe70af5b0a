CREATE TYPE "public"."notice_kind" AS ENUM('opened', 'reminder', 'escalated', 'settled');--> statement-breakpoint
CREATE TABLE "action_links" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"customer_id" text NOT NULL,
	"wait_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"recipient" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"withdrawn_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "output_deliveries" ALTER COLUMN "project_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "output_deliveries" ALTER COLUMN "artifact_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "wait_id" uuid;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "notice" "notice_kind";--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "nth" integer;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "revision" integer;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD COLUMN "recipient" text;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD COLUMN "artifacts" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "output_destinations" ADD COLUMN "waits" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "action_links" ADD CONSTRAINT "action_links_wait_id_waits_id_fk" FOREIGN KEY ("wait_id") REFERENCES "public"."waits"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "action_links_by_token" ON "action_links" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "action_links_by_wait" ON "action_links" USING btree ("wait_id");--> statement-breakpoint
CREATE INDEX "action_links_by_recipient" ON "action_links" USING btree ("customer_id","recipient") WHERE "action_links"."withdrawn_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "output_deliveries_of_wait_once" ON "output_deliveries" USING btree ("wait_id","destination_id","notice","nth",coalesce("recipient", '')) WHERE "output_deliveries"."wait_id" is not null;--> statement-breakpoint
ALTER TABLE "output_deliveries" ADD CONSTRAINT "output_deliveries_of_something" CHECK (num_nonnulls("output_deliveries"."artifact_id", "output_deliveries"."wait_id") = 1 and ("output_deliveries"."wait_id" is null) = ("output_deliveries"."notice" is null));--> statement-breakpoint
-- By hand: somebody who is no member any more has no say by a link either, and has none again when they come back.
CREATE FUNCTION "withdraw_links_of_member"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE action_links SET withdrawn_at = now()
  WHERE customer_id = old.customer_id AND recipient = old.email AND withdrawn_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "withdraw_links_of_member" AFTER DELETE ON "workspace_members" FOR EACH ROW EXECUTE FUNCTION "withdraw_links_of_member"();--> statement-breakpoint
-- By hand: ids that sort by time, as the service makes them.
CREATE FUNCTION "uuid_by_time"() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
$$;--> statement-breakpoint
-- Whoever is told of waits has a delivery in the statement that opens, revises, escalates, reminds of or settles one, so that none is
-- told twice or not at all; housekeeping starts them. By mail each recipient has one of their own. That it is settled is told to those
-- who were told of it, but not to whoever settled it.
CREATE FUNCTION "tell_of_wait"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what notice_kind;
  n integer := 1;
BEGIN
  IF TG_OP = 'UPDATE' AND new.settled_at IS NOT NULL THEN
    INSERT INTO output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, recipient, due_at)
    SELECT uuid_by_time(), new.customer_id, told.destination_id, new.project_id, new.id, 'settled', n, new.revision, told.recipient, now()
    FROM (SELECT DISTINCT o.destination_id, o.recipient FROM output_deliveries o WHERE o.wait_id = new.id) told
      JOIN output_destinations d ON d.id = told.destination_id AND d.customer_id = new.customer_id AND d.enabled AND d.waits
    WHERE NOT coalesce(told.recipient = lower(new.settled_by), false)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND new.escalated_at IS DISTINCT FROM old.escalated_at THEN
    what := 'escalated';
  ELSIF TG_OP = 'UPDATE' AND (new.reminders, new.reminders_by_hand) IS DISTINCT FROM (old.reminders, old.reminders_by_hand) THEN
    what := 'reminder';
    n := new.reminders + new.reminders_by_hand;
  ELSE
    what := 'opened';
    n := new.revision;
  END IF;
  INSERT INTO output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, recipient, due_at)
  SELECT uuid_by_time(), new.customer_id, d.id, new.project_id, new.id, what, n, new.revision, told.recipient, now()
  FROM output_destinations d CROSS JOIN LATERAL (
    SELECT NULL::text AS recipient WHERE d.kind <> 'email'
    UNION
    SELECT lower(named) FROM jsonb_array_elements_text(d.config -> 'to') named WHERE d.kind = 'email'
    UNION
    SELECT m.email FROM workspace_members m
    WHERE d.kind = 'email' AND d.config -> 'approvers' = 'true' AND m.customer_id = new.customer_id
      AND seat_at(new.id, new.customer_id, (SELECT s.gate_config FROM subtasks s WHERE s.id = new.subtask_id),
        new.escalated_at IS NOT NULL, m.email) IS NOT NULL) told
  WHERE d.customer_id = new.customer_id AND d.enabled AND d.waits AND (d.workflow_slugs IS NULL OR EXISTS (
    SELECT FROM projects p WHERE p.id = new.project_id AND p.workflow_slug = ANY (d.workflow_slugs)))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "tell_of_new_wait" AFTER INSERT ON "waits" FOR EACH ROW WHEN (new.settled_at IS NULL) EXECUTE FUNCTION "tell_of_wait"();--> statement-breakpoint
CREATE TRIGGER "tell_of_changed_wait" AFTER UPDATE OF "revision", "settled_at", "escalated_at", "reminders", "reminders_by_hand" ON "waits" FOR EACH ROW
  WHEN (old.settled_at IS NULL AND (old.revision, old.settled_at, old.escalated_at, old.reminders, old.reminders_by_hand)
    IS DISTINCT FROM (new.revision, new.settled_at, new.escalated_at, new.reminders, new.reminders_by_hand))
  EXECUTE FUNCTION "tell_of_wait"();
