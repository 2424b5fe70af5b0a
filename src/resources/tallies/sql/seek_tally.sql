-- Returns where a page begins that `skipped` matching rows stand before, newest first: below that place, after `rest`
-- more rows. It goes from the longest stretches to the shortest, so it costs the same wherever the page is.
CREATE OR REPLACE FUNCTION seek_tally(
  of_list text, of_customer text, wanted text[], skipped bigint, OUT below bigint, OUT rest bigint
) LANGUAGE plpgsql STABLE AS $$
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
END $$;
