ALTER TYPE "public"."member_role" ADD VALUE 'viewer';--> statement-breakpoint
-- A viewer answers nothing, whoever a gate names. The role is compared as text: no statement of this transaction may use
-- the new word of the type.
CREATE OR REPLACE FUNCTION "may_answer"(config jsonb, is_escalated boolean, who text, member_role text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT member_role IS DISTINCT FROM 'viewer' AND (
    config -> 'approvers' IS NULL OR is_among(config -> 'approvers', who, member_role)
      OR (is_escalated AND is_among(config -> 'escalate_to', who, member_role)));
$$;
