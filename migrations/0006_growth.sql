CREATE TABLE "tallies" (
	"customer_id" text NOT NULL,
	"list" text NOT NULL,
	"dims" text[] NOT NULL,
	"level" smallint NOT NULL,
	"block" bigint NOT NULL,
	"rows" bigint NOT NULL,
	"usd" numeric(20, 8) DEFAULT '0' NOT NULL,
	CONSTRAINT "tallies_list_customer_id_level_block_dims_pk" PRIMARY KEY("list","customer_id","level","block","dims")
);
--> statement-breakpoint
CREATE TABLE "tally_deltas" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"list" text NOT NULL,
	"dims" text[] NOT NULL,
	"block" bigint NOT NULL,
	"rows" integer NOT NULL,
	"usd" numeric(20, 8) DEFAULT '0' NOT NULL
);
--> statement-breakpoint
DROP INDEX "project_events_by_time";--> statement-breakpoint
DROP INDEX "subtasks_webhook_gates";--> statement-breakpoint
DROP INDEX "runs_by_time";--> statement-breakpoint
ALTER TABLE "run_artifacts" ADD COLUMN "agent" text;--> statement-breakpoint
CREATE INDEX "tally_deltas_of_list" ON "tally_deltas" USING btree ("list","customer_id");--> statement-breakpoint
CREATE INDEX "audit_log_by_action" ON "audit_log" USING btree ("customer_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_actor" ON "audit_log" USING btree ("customer_id","actor","id");--> statement-breakpoint
CREATE INDEX "audit_log_by_workspace_and_time" ON "audit_log" USING btree ("customer_id","created_at","id","action","actor");--> statement-breakpoint
CREATE INDEX "memory_entries_by_agent" ON "memory_entries" USING btree ("customer_id","agent","created_at","id");--> statement-breakpoint
CREATE INDEX "memory_entries_by_type" ON "memory_entries" USING btree ("customer_id","type","created_at","id");--> statement-breakpoint
CREATE INDEX "memory_entries_always_loaded" ON "memory_entries" USING btree ("customer_id","id") WHERE "memory_entries"."always_load";--> statement-breakpoint
CREATE INDEX "output_deliveries_by_destination" ON "output_deliveries" USING btree ("customer_id","destination_id","id");--> statement-breakpoint
CREATE INDEX "output_deliveries_undelivered" ON "output_deliveries" USING btree ("customer_id","status","id") WHERE "output_deliveries"."status" <> 'delivered';--> statement-breakpoint
CREATE INDEX "project_events_by_category" ON "project_events" USING btree ("customer_id","category","ts","id") WHERE "project_events"."category" not in ('task', 'subtask');--> statement-breakpoint
CREATE INDEX "project_events_by_level" ON "project_events" USING btree ("customer_id","level","ts","id") WHERE "project_events"."level" <> 'info';--> statement-breakpoint
CREATE INDEX "subtasks_webhook_gates_by_status" ON "subtasks" USING btree ("customer_id","status",coalesce(completed_at, started_at, created_at),"id") WHERE "subtasks"."gate_kind" = 'webhook';--> statement-breakpoint
CREATE INDEX "run_artifacts_by_agent" ON "run_artifacts" USING btree ("customer_id","agent","id");--> statement-breakpoint
CREATE INDEX "runs_by_transport" ON "runs" USING btree ("customer_id","transport","seq");--> statement-breakpoint
CREATE INDEX "runs_in_flight_by_agent" ON "runs" USING btree ("customer_id","agent") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_endpoint" ON "webhook_deliveries" USING btree ("customer_id","subscription_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_undelivered" ON "webhook_deliveries" USING btree ("customer_id","status","id") WHERE "webhook_deliveries"."status" <> 'delivered';--> statement-breakpoint
CREATE INDEX "project_events_by_time" ON "project_events" USING btree ("customer_id","ts","id");--> statement-breakpoint
CREATE INDEX "subtasks_webhook_gates" ON "subtasks" USING btree ("customer_id",(status = 'blocked'),coalesce(completed_at, started_at, created_at),"id") WHERE "subtasks"."gate_kind" = 'webhook';--> statement-breakpoint
CREATE INDEX "runs_by_time" ON "runs" USING btree ("customer_id","created_at","seq","agent","transport");--> statement-breakpoint
UPDATE "run_artifacts" a SET "agent" = r."agent" FROM "runs" r WHERE r."id" = a."run_id";--> statement-breakpoint
-- What a list counts, as a trigger on its table keeps it: each statement adds what it changed, in its own transaction.
-- The expressions name a row of the table `r`: its place in the list's order (a number that later rows do not go below),
-- what it is filtered by, whether it counts, and its money. `changes` are the columns that these can change with.
CREATE FUNCTION "keep_tally"(list text, of_table regclass, place text, dims text, counts text, usd text, changes text) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
  old_dims text := regexp_replace(dims, '\mr\.', 'old.', 'g');
  new_dims text := regexp_replace(dims, '\mr\.', 'new.', 'g');
  old_counts text := regexp_replace(counts, '\mr\.', 'old.', 'g');
  new_counts text := regexp_replace(counts, '\mr\.', 'new.', 'g');
  old_usd text := regexp_replace(usd, '\mr\.', 'old.', 'g');
  new_usd text := regexp_replace(usd, '\mr\.', 'new.', 'g');
BEGIN
  EXECUTE format($f$
    CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
      SELECT r.customer_id, %L, %s, (%s) >> 10, count(*), sum(%s) FROM added r WHERE %s GROUP BY 1, 3, 4;
      RETURN NULL;
    END $body$ $f$, 'tally_' || list || '_added', list, dims, place, usd, counts);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION %1$I()', 'tally_' || list || '_added', of_table);
  EXECUTE format($f$
    CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
      SELECT r.customer_id, %L, %s, (%s) >> 10, -count(*), -sum(%s) FROM removed r WHERE %s GROUP BY 1, 3, 4;
      RETURN NULL;
    END $body$ $f$, 'tally_' || list || '_removed', list, dims, place, usd, counts);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %1$I()', 'tally_' || list || '_removed', of_table);
  IF changes IS NOT NULL THEN
    EXECUTE format($f$
      CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN
        INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
        SELECT old.customer_id, %2$L, %3$s, (%4$s) >> 10, -1, -(%5$s) WHERE %6$s UNION ALL
        SELECT new.customer_id, %2$L, %7$s, (%8$s) >> 10, 1, %9$s WHERE %10$s;
        RETURN NULL;
      END $body$ $f$, 'tally_' || list || '_changed', list,
      old_dims, regexp_replace(place, '\mr\.', 'old.', 'g'), old_usd, old_counts,
      new_dims, regexp_replace(place, '\mr\.', 'new.', 'g'), new_usd, new_counts);
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE OF %s ON %s FOR EACH ROW
      WHEN (((%4$s) OR (%5$s)) AND ROW(%6$s, %4$s, %7$s) IS DISTINCT FROM ROW(%8$s, %5$s, %9$s)) EXECUTE FUNCTION %1$I()',
      'tally_' || list || '_changed', changes, of_table, old_counts, new_counts, old_dims, old_usd, new_dims, new_usd);
  END IF;
  EXECUTE format('CREATE VIEW %I AS SELECT r.customer_id, %s AS dims, %s AS place, (%s)::numeric AS usd FROM %s r WHERE %s',
    'counted_' || list, dims, place, usd, of_table, counts);
END $make$;--> statement-breakpoint
-- Counts a list anew, which nobody can add to meanwhile: for what is there before its triggers, or was loaded past them.
CREATE FUNCTION "recount_tally"(of_list text, of_table regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', of_table);
  DELETE FROM tally_deltas d WHERE d.list = of_list;
  DELETE FROM tallies t WHERE t.list = of_list;
  EXECUTE format('INSERT INTO tallies (customer_id, list, dims, level, block, rows, usd)
    SELECT customer_id, %L, dims, 1, place >> 10, count(*), sum(usd) FROM %I GROUP BY 1, 3, 5', of_list, 'counted_' || of_list);
  INSERT INTO tallies (customer_id, list, dims, level, block, rows, usd)
  SELECT t.customer_id, of_list, t.dims, above, t.block >> 5 * (above - 1), sum(t.rows), sum(t.usd)
  FROM tallies t CROSS JOIN generate_series(2, 5) above WHERE t.list = of_list AND t.level = 1 GROUP BY 1, 3, 4, 5;
END $$;--> statement-breakpoint
-- Where a page begins that `skipped` matching rows stand before, newest first: below that place, after `rest` more. From
-- the longest stretches to the shortest, so it costs the same wherever the page is.
CREATE FUNCTION "seek_tally"(of_list text, of_customer text, wanted text[], skipped bigint, OUT below bigint, OUT rest bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
  lowest bigint := 0;
  highest bigint := 9223372036854775807;
  here record;
BEGIN
  rest := skipped;
  FOR at_level IN REVERSE 5..1 LOOP
    SELECT s.block, s.through - s.rows AS before INTO here FROM (
      SELECT c.block, sum(c.rows) AS rows, sum(sum(c.rows)) OVER (ORDER BY c.block DESC) AS through FROM (
        SELECT t.block, t.rows FROM tallies t
        WHERE t.list = of_list AND t.customer_id = of_customer AND t.level = at_level AND t.block BETWEEN lowest AND highest
          AND (wanted[1] IS NULL OR t.dims[1] = wanted[1]) AND (wanted[2] IS NULL OR t.dims[2] = wanted[2])
        UNION ALL
        SELECT d.block >> 5 * (at_level - 1), d.rows FROM tally_deltas d
        WHERE d.list = of_list AND d.customer_id = of_customer
          AND d.block >> 5 * (at_level - 1) BETWEEN lowest AND highest
          AND (wanted[1] IS NULL OR d.dims[1] = wanted[1]) AND (wanted[2] IS NULL OR d.dims[2] = wanted[2])
      ) c GROUP BY c.block
    ) s WHERE s.through > rest ORDER BY s.block DESC LIMIT 1;
    IF NOT FOUND THEN
      below := 0;
      rest := 0;
      RETURN;
    END IF;
    rest := rest - here.before;
    lowest := here.block << 5;
    highest := lowest + 31;
  END LOOP;
  below := (here.block + 1) << 10;
END $$;--> statement-breakpoint
SELECT keep_tally('runs', 'runs', 'r.seq', 'array[r.agent, r.transport]', 'true', '0', 'agent, transport');--> statement-breakpoint
SELECT keep_tally('run_outcomes', 'runs', '0::bigint', 'array[r.agent, r.status::text]', 'r.completed_at is not null', 'r.cost_usd', 'agent, status, cost_usd, completed_at');--> statement-breakpoint
SELECT keep_tally('projects', 'projects', 'r.seq', 'array[r.status::text, r.workflow_slug]', 'true', '0', 'status');--> statement-breakpoint
SELECT keep_tally('project_events', 'project_events', '0::bigint', 'array[r.category::text, r.level::text]', 'true', '0', NULL);--> statement-breakpoint
SELECT keep_tally('webhook_gates', 'subtasks', '0::bigint', 'array[r.status::text]', 'r.gate_kind = ''webhook''', '0', 'status');--> statement-breakpoint
SELECT keep_tally('audit_log', 'audit_log', 'r.id', 'array[r.action, r.actor]', 'true', '0', NULL);--> statement-breakpoint
SELECT keep_tally('webhook_deliveries', 'webhook_deliveries', '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4', 'array[r.status::text, r.subscription_id::text]', 'true', '0', 'status');--> statement-breakpoint
SELECT keep_tally('output_deliveries', 'output_deliveries', '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4', 'array[r.status::text, r.destination_id::text]', 'true', '0', 'status');--> statement-breakpoint
SELECT keep_tally('run_artifacts', 'run_artifacts', '(''x'' || left(replace(r.id::text, ''-'', ''''), 12))::bit(48)::bigint >> 4', 'array[r.agent]', 'true', '0', NULL);--> statement-breakpoint
SELECT keep_tally('wallet_ledger', 'wallet_ledger', 'r.id', 'array[r.kind::text]', 'true', 'r.delta_usd_micros / 1000000.0', NULL);--> statement-breakpoint
SELECT keep_tally('chat_threads', 'chat_threads', '0::bigint', 'array[]::text[]', 'true', '0', NULL);--> statement-breakpoint
SELECT keep_tally('memory_entries', 'memory_entries', '0::bigint', 'array[r.agent, r.type, r.scope]', 'true', '0', 'agent, type, scope');--> statement-breakpoint
SELECT recount_tally('runs', 'runs'), recount_tally('run_outcomes', 'runs'), recount_tally('projects', 'projects'), recount_tally('project_events', 'project_events'), recount_tally('webhook_gates', 'subtasks'), recount_tally('audit_log', 'audit_log'), recount_tally('webhook_deliveries', 'webhook_deliveries'), recount_tally('output_deliveries', 'output_deliveries'), recount_tally('run_artifacts', 'run_artifacts'), recount_tally('wallet_ledger', 'wallet_ledger'), recount_tally('chat_threads', 'chat_threads'), recount_tally('memory_entries', 'memory_entries');--> statement-breakpoint
-- A large table is vacuumed and looked at after changes to a fiftieth of it, not a fifth: plans and index-only reads
-- keep to what is there. The deltas come and go all the time.
ALTER TABLE "runs" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_events" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_messages" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_tool_calls" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "run_artifacts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "webhook_deliveries" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "webhook_delivery_attempts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "output_deliveries" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "projects" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "tasks" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "subtasks" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "attempts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "artifacts" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "project_events" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "audit_log" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "wallet_ledger" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "tally_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);--> statement-breakpoint
ALTER TABLE "tallies" SET (fillfactor = 80);
