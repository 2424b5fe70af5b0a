-- Returns what is added to the number of a transaction, so that the order of events goes on after a restore into a
-- server whose transactions have lower numbers: `continue_event_order` then replaces this function. The planner inlines
-- it, so it costs nothing.
CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 0::bigint';

-- Returns the place of the current transaction in the order of events.
CREATE OR REPLACE FUNCTION event_tx()
RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_current_xact_id()::text::bigint + event_offset()';

-- Returns a bound of the order of events: every transaction below it has ended, and the statement that asks sees it if
-- it was committed.
CREATE OR REPLACE FUNCTION event_horizon()
RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + event_offset()';

-- Moves `event_offset` past the newest event. Every process calls it before it writes or reads events. The newest rows
-- have about the greatest numbers; the distance of a million is for rows that were written at the same time, and for
-- cursors of moments at which nothing was written.
CREATE OR REPLACE FUNCTION continue_event_order() RETURNS boolean LANGUAGE plpgsql AS $$
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
END $$;
