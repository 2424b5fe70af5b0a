-- Says whether somebody is among those whom a gate configuration names, as `members`, `roles`, `emails` or `api_keys`.
CREATE OR REPLACE FUNCTION is_among(named jsonb, who text, member_role text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    (member_role IS NOT NULL AND (named -> 'members' ? lower(who) OR named -> 'roles' ? member_role))
      OR named -> 'emails' ? lower(who) OR (starts_with(who, 'api-key:') AND named -> 'api_keys' = 'true'), false);
$$;

-- Says whether a gate configuration lets somebody answer: anybody if it names nobody; after an escalation also those
-- named for that. A viewer answers nothing, whoever the configuration names. `member_role` is null for somebody who is
-- no member. The role is compared as text, so that a new role can be used in the transaction that adds it.
CREATE OR REPLACE FUNCTION may_answer(config jsonb, is_escalated boolean, who text, member_role text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT member_role IS DISTINCT FROM 'viewer' AND (
    config -> 'approvers' IS NULL OR is_among(config -> 'approvers', who, member_role)
      OR (is_escalated AND is_among(config -> 'escalate_to', who, member_role)));
$$;

-- Returns the person behind a name in records. An API key or a deploy token stands for its maker; keys without a
-- recorded maker are one person, as nobody can tell them apart. A subject is the member that it was seen with.
-- Everybody else is the name in lower case.
CREATE OR REPLACE FUNCTION person_behind(of_customer text, who text)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce((SELECT s.email FROM member_subjects s WHERE s.customer_id = of_customer AND s.subject = maker.name), maker.name))
  FROM (SELECT CASE
    WHEN starts_with(who, 'api-key:') THEN coalesce((
      SELECT k.made_by FROM api_keys k WHERE k.customer_id = of_customer AND 'api-key:' || k.id = who), 'api-key')
    WHEN starts_with(who, 'deploy-token:') THEN coalesce((
      SELECT t.created_by FROM deploy_tokens t WHERE t.customer_id = of_customer AND 'deploy-token:' || t.id = who), who)
    ELSE who END AS name) maker;
$$;

-- Says whether an answer of somebody counts at this moment: a former member and a viewer have no say, whoever a gate
-- names, and neither has a key of theirs or a revoked one. Every statement that lets somebody answer asks this
-- function, or `seat_at`.
CREATE OR REPLACE FUNCTION has_say(of_customer text, config jsonb, is_escalated boolean, who text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT NOT EXISTS (SELECT FROM former_members f WHERE f.customer_id = of_customer AND f.email = one.person)
    AND NOT EXISTS (
      SELECT FROM api_keys k WHERE k.customer_id = of_customer AND 'api-key:' || k.id = who AND k.revoked_at IS NOT NULL)
    AND m.role::text IS DISTINCT FROM 'viewer'
    AND CASE WHEN starts_with(who, 'api-key:') THEN may_answer(config, is_escalated, who, NULL)
      ELSE may_answer(config, is_escalated, one.person, m.role::text) END
  FROM (SELECT person_behind(of_customer, who) AS person) one
    LEFT JOIN workspace_members m ON m.customer_id = of_customer AND m.email = one.person;
$$;

-- Returns whose place an answer of somebody fills: their own if the gate names them, else that of a named person whom
-- they stand in for, as long as both still have a say. Null: the answer does not count.
CREATE OR REPLACE FUNCTION seat_at(of_wait uuid, of_customer text, config jsonb, is_escalated boolean, who text)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN has_say(of_customer, config, is_escalated, who) THEN who
  ELSE (
    SELECT d.delegator FROM wait_delegations d
      JOIN workspace_members stand_in ON stand_in.customer_id = d.customer_id AND stand_in.email = d.stand_in
    WHERE d.wait_id = of_wait AND d.customer_id = of_customer AND d.stand_in = lower(who) AND d.until > now()
      AND has_say(of_customer, NULL, false, d.stand_in) AND has_say(of_customer, config, is_escalated, d.delegator)
    ORDER BY d.created_at, d.delegator LIMIT 1) END;
$$;

-- Counts the persons who approve a revision of a wait and have a say at this moment: one person with two credentials,
-- or with two seats, is one.
CREATE OR REPLACE FUNCTION approvals_of(
  of_wait uuid, of_customer text, of_revision integer, config jsonb, is_escalated boolean
) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT least(count(DISTINCT person_behind(of_customer, v.voter)),
    count(DISTINCT person_behind(of_customer, coalesce(v.seat, v.voter))))::integer
  FROM wait_votes v
  WHERE v.wait_id = of_wait AND v.customer_id = of_customer AND v.revision = of_revision AND v.answer = 'approve'
    AND has_say(of_customer, config, is_escalated, coalesce(v.seat, v.voter))
    AND (v.seat IS NULL OR (has_say(of_customer, NULL, false, v.voter) AND EXISTS (
      SELECT FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = lower(v.voter))));
$$;

-- Says whether API keys may answer a wait at all: only where a gate names approvers. All other waits are for people.
CREATE OR REPLACE FUNCTION keys_may_answer(config jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT config -> 'approvers' IS NOT NULL;
$$;

-- Returns the addresses that a gate configuration names, of members and of other people.
CREATE OR REPLACE FUNCTION addresses_named(config jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_array_elements_text(
    coalesce(config -> 'approvers' -> 'emails', '[]') || coalesce(config -> 'escalate_to' -> 'emails', '[]'));
$$;

-- Says whether somebody has a say by a mailed link: a member, or a person whom the gate names by address.
CREATE OR REPLACE FUNCTION has_say_by_link(of_customer text, config jsonb, is_escalated boolean, recipient text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT has_say(of_customer, NULL, false, recipient) AND (
    EXISTS (SELECT FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = recipient)
      OR is_among(config -> 'approvers', recipient, NULL)
      OR (is_escalated AND is_among(config -> 'escalate_to', recipient, NULL)));
$$;
