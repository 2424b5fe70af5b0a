CREATE TABLE "spending_notices" (
	"customer_id" text NOT NULL,
	"key" text NOT NULL,
	"id" uuid DEFAULT uuid_by_time() NOT NULL,
	"topic" text NOT NULL,
	"cap_id" text,
	"period_start" date,
	"threshold" integer,
	"spent_usd" numeric(20, 8),
	"limit_usd" numeric(20, 8),
	"run_id" text,
	"told_to" text[] DEFAULT '{}' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"told_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "spending_notices_customer_id_key_pk" PRIMARY KEY("customer_id","key")
);
--> statement-breakpoint
ALTER TABLE "output_destinations" ADD COLUMN "spending" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "budgets" ADD COLUMN "alert_at" integer[];--> statement-breakpoint
CREATE INDEX "spending_notices_untold" ON "spending_notices" USING btree ("due_at") WHERE "spending_notices"."told_at" is null;--> statement-breakpoint
-- By hand: a booking that crosses thresholds of a cap notes it in its own transaction, once for each period and limit. Of several that
-- are crossed at once the highest alone is told.
CREATE FUNCTION "note_spending"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cap text := substr(new.id, length('cap:' || new.customer_id || ':') + 1);
  crossed integer[];
BEGIN
  SELECT array_agg(t ORDER BY t) INTO crossed FROM unnest(coalesce(new.alert_at, '{50,80,100}')) t WHERE new.spent_usd * 100 >= new.limit_usd * t;
  IF crossed IS NULL OR new.period_start IS DISTINCT FROM date_trunc(new.period, now() at time zone 'utc')::date THEN
    RETURN NULL;
  END IF;
  WITH noted AS (
    INSERT INTO spending_notices (customer_id, key, topic, cap_id, period_start, threshold, spent_usd, limit_usd, told_at)
    SELECT new.customer_id, concat_ws('/', cap, new.period_start, t, trim_scale(new.limit_usd)), 'threshold', cap, new.period_start, t,
      new.spent_usd, new.limit_usd, CASE WHEN t < crossed[cardinality(crossed)] THEN now() END
    FROM unnest(crossed) t ON CONFLICT DO NOTHING
    RETURNING threshold, told_at
  )
  INSERT INTO log_events (customer_id, kind, topic, subject, payload)
  SELECT new.customer_id, 'spending', 'threshold', cap, jsonb_build_object('threshold', threshold,
    'spent_usd', trim_scale(new.spent_usd)::text, 'limit_usd', trim_scale(new.limit_usd)::text)
  FROM noted WHERE told_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "note_spending" AFTER INSERT OR UPDATE OF "spent_usd", "limit_usd", "alert_at" ON "budgets" FOR EACH ROW
  WHEN (new.period IS NOT NULL AND new.limit_usd > 0 AND new.spent_usd > 0) EXECUTE FUNCTION "note_spending"();--> statement-breakpoint
-- A workspace is told once a day that something was spent which is not counted.
CREATE FUNCTION "note_unpriced"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH noted AS (
    INSERT INTO spending_notices (customer_id, key, topic, run_id)
    VALUES (new.customer_id, 'unpriced/' || (now() at time zone 'utc')::date, 'unpriced', new.id) ON CONFLICT DO NOTHING RETURNING 1
  )
  INSERT INTO log_events (customer_id, kind, topic, subject, run_id, payload)
  SELECT new.customer_id, 'spending', 'unpriced', new.id, new.id, jsonb_build_object('model', new.model) FROM noted;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "note_unpriced" AFTER UPDATE OF "is_priced" ON "runs" FOR EACH ROW
  WHEN (old.is_priced AND NOT new.is_priced) EXECUTE FUNCTION "note_unpriced"();
