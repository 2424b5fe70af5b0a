-- By hand but for columns, table and indexes: the one order that the events of a workspace have (docs/operations.md, "The
-- order of events").
CREATE SEQUENCE "event_seq";--> statement-breakpoint
-- What is added to the number of a transaction, so that the order goes on where it stood after a restore into a database
-- server whose transactions have lower numbers: `continue_event_order` replaces it. Part of the two below when they are
-- planned, so it costs nothing.
CREATE FUNCTION "event_offset"() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 0::bigint';--> statement-breakpoint
CREATE FUNCTION "event_tx"() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_current_xact_id()::text::bigint + event_offset()';--> statement-breakpoint
-- Of the snapshot of the statement that asks: what is below it has ended, and is seen by that statement if it was committed.
CREATE FUNCTION "event_horizon"() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + event_offset()';--> statement-breakpoint
-- Every process calls it before it writes or reads events. The newest rows have about the greatest numbers there are; the
-- distance is for those that were written at the same time, and for cursors of moments at which nothing was written.
CREATE FUNCTION "continue_event_order"() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  newest bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(4711003);
  SELECT greatest(
    (SELECT max(tx) FROM (SELECT tx FROM run_events ORDER BY id DESC LIMIT 1000) e),
    (SELECT max(tx) FROM (SELECT tx FROM project_events ORDER BY id DESC LIMIT 1000) e),
    (SELECT max(tx) FROM (SELECT tx FROM log_events ORDER BY ts DESC LIMIT 1000) e)) INTO newest;
  IF newest IS NULL OR newest < pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset() THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS %L',
    format('SELECT %s::bigint', newest + 1000000 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint));
  RETURN true;
END $$;--> statement-breakpoint
CREATE TABLE "log_events" (
	"customer_id" text NOT NULL,
	"tx" bigint DEFAULT event_tx() NOT NULL,
	"seq" bigint DEFAULT nextval('event_seq') NOT NULL,
	"ts" timestamp with time zone DEFAULT now() NOT NULL,
	"kind" text NOT NULL,
	"topic" text NOT NULL,
	"subject" text NOT NULL,
	"run_id" text,
	"project_id" text,
	"payload" jsonb NOT NULL,
	CONSTRAINT "log_events_customer_id_tx_seq_pk" PRIMARY KEY("customer_id","tx","seq")
);
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "events_from" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "project_events" ADD COLUMN "tx" bigint DEFAULT 0 NOT NULL, ADD COLUMN "seq" bigint;--> statement-breakpoint
ALTER TABLE "run_events" ADD COLUMN "customer_id" text, ADD COLUMN "tx" bigint DEFAULT 0 NOT NULL, ADD COLUMN "seq" bigint;--> statement-breakpoint
-- What there is comes first, in the order of time.
CREATE TEMPORARY TABLE "events_so_far" ON COMMIT DROP AS
SELECT of_run, id, row_number() OVER (ORDER BY ts, of_run DESC, id) AS seq
FROM (SELECT true AS of_run, id, ts FROM run_events UNION ALL SELECT false, id, ts FROM project_events) e;--> statement-breakpoint
UPDATE "run_events" e SET customer_id = r.customer_id, seq = n.seq
FROM events_so_far n, runs r WHERE n.of_run AND n.id = e.id AND r.id = e.run_id;--> statement-breakpoint
UPDATE "project_events" e SET seq = n.seq FROM events_so_far n WHERE NOT n.of_run AND n.id = e.id;--> statement-breakpoint
SELECT setval('event_seq', greatest((SELECT count(*) FROM events_so_far), 1));--> statement-breakpoint
ALTER TABLE "project_events" ALTER COLUMN "tx" SET DEFAULT event_tx(), ALTER COLUMN "seq" SET DEFAULT nextval('event_seq'), ALTER COLUMN "seq" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "run_events" ALTER COLUMN "tx" SET DEFAULT event_tx(), ALTER COLUMN "seq" SET DEFAULT nextval('event_seq'), ALTER COLUMN "seq" SET NOT NULL, ALTER COLUMN "customer_id" SET NOT NULL;--> statement-breakpoint
-- For processes of the release before, which go on while the new ones start: the others name the workspace, and pay nothing.
CREATE FUNCTION "run_event_owner"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT customer_id INTO NEW.customer_id FROM runs WHERE id = NEW.run_id;
  RETURN NEW;
END $$;--> statement-breakpoint
CREATE TRIGGER "run_events_owner" BEFORE INSERT ON "run_events" FOR EACH ROW WHEN (NEW.customer_id IS NULL) EXECUTE FUNCTION "run_event_owner"();--> statement-breakpoint
CREATE INDEX "log_events_by_time" ON "log_events" USING btree ("ts");--> statement-breakpoint
CREATE INDEX "project_events_in_order" ON "project_events" USING btree ("customer_id","tx","seq");--> statement-breakpoint
CREATE INDEX "run_events_in_order" ON "run_events" USING btree ("customer_id","tx","seq");
