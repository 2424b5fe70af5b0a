-- Counts a list again, while nobody can add to it: for rows that are older than the triggers, or were loaded past them.
CREATE OR REPLACE FUNCTION recount_tally(of_list text, of_table regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', of_table);
  DELETE FROM tally_deltas d WHERE d.list = of_list;
  DELETE FROM tallies t WHERE t.list = of_list;
  EXECUTE format('INSERT INTO tallies (customer_id, list, dims, level, block, rows, usd)
    SELECT customer_id, %L, dims, 1, place >> 10, count(*), sum(usd) FROM %I GROUP BY 1, 3, 5', of_list, 'counted_' || of_list);
  INSERT INTO tallies (customer_id, list, dims, level, block, rows, usd)
  SELECT t.customer_id, of_list, t.dims, above, t.block >> 5 * (above - 1), sum(t.rows), sum(t.usd)
  FROM tallies t CROSS JOIN generate_series(2, 5) above WHERE t.list = of_list AND t.level = 1 GROUP BY 1, 3, 4, 5;
END $$;
