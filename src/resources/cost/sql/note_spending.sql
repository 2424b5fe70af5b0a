-- Notes that a booking crossed thresholds of a cap, in the transaction of the booking, once for each period and limit.
-- If several are crossed at once, only the highest is told.
CREATE OR REPLACE FUNCTION note_spending() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

-- A trigger, because turns, raises of limits and changes of the thresholds all write budgets.
CREATE TRIGGER note_spending AFTER INSERT OR UPDATE OF spent_usd, limit_usd, alert_at ON budgets
  FOR EACH ROW
  WHEN (new.period IS NOT NULL AND new.limit_usd > 0 AND new.spent_usd > 0)
  EXECUTE FUNCTION note_spending();
