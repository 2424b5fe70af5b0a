-- Keeps the count of a list: makes the triggers of its table, by which each statement adds what it changed in its own
-- transaction, and the view `counted_<list>`. The expressions name a row of the table `r`: its place in the order of
-- the list (a number that later rows do not go below), what the list is filtered by, whether the row counts, and its
-- money. `changes` are the columns that these can change with; null if none can.
CREATE OR REPLACE FUNCTION keep_tally(
  list text, of_table regclass, place text, dims text, counts text, usd text, changes text
) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
  old_dims text := regexp_replace(dims, '\mr\.', 'old.', 'g');
  new_dims text := regexp_replace(dims, '\mr\.', 'new.', 'g');
  old_counts text := regexp_replace(counts, '\mr\.', 'old.', 'g');
  new_counts text := regexp_replace(counts, '\mr\.', 'new.', 'g');
  old_usd text := regexp_replace(usd, '\mr\.', 'old.', 'g');
  new_usd text := regexp_replace(usd, '\mr\.', 'new.', 'g');
BEGIN
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
      SELECT r.customer_id, %L, %s, (%s) >> 10, count(*), sum(%s) FROM added r WHERE %s GROUP BY 1, 3, 4;
      RETURN NULL;
    END $body$ $f$, 'tally_' || list || '_added', list, dims, place, usd, counts);
  EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION %1$I()', 'tally_' || list || '_added', of_table);
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
      SELECT r.customer_id, %L, %s, (%s) >> 10, -count(*), -sum(%s) FROM removed r WHERE %s GROUP BY 1, 3, 4;
      RETURN NULL;
    END $body$ $f$, 'tally_' || list || '_removed', list, dims, place, usd, counts);
  EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %1$I()', 'tally_' || list || '_removed', of_table);
  IF changes IS NOT NULL THEN
    EXECUTE format($f$
      CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN
        INSERT INTO tally_deltas (customer_id, list, dims, block, rows, usd)
        SELECT old.customer_id, %2$L, %3$s, (%4$s) >> 10, -1, -(%5$s) WHERE %6$s UNION ALL
        SELECT new.customer_id, %2$L, %7$s, (%8$s) >> 10, 1, %9$s WHERE %10$s;
        RETURN NULL;
      END $body$ $f$, 'tally_' || list || '_changed', list,
      old_dims, regexp_replace(place, '\mr\.', 'old.', 'g'), old_usd, old_counts,
      new_dims, regexp_replace(place, '\mr\.', 'new.', 'g'), new_usd, new_counts);
    EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER UPDATE OF %s ON %s FOR EACH ROW
      WHEN (((%4$s) OR (%5$s)) AND ROW(%6$s, %4$s, %7$s) IS DISTINCT FROM ROW(%8$s, %5$s, %9$s)) EXECUTE FUNCTION %1$I()',
      'tally_' || list || '_changed', changes, of_table, old_counts, new_counts, old_dims, old_usd, new_dims, new_usd);
  END IF;
  EXECUTE format('CREATE OR REPLACE VIEW %I AS SELECT r.customer_id, %s AS dims, %s AS place, (%s)::numeric AS usd FROM %s r WHERE %s',
    'counted_' || list, dims, place, usd, of_table, counts);
END $make$;
