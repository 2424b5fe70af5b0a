ALTER TABLE "waits" ADD COLUMN "reminders" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "waits" ADD COLUMN "escalated_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "waits" ADD COLUMN "timed_out_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "started_by" text;--> statement-breakpoint
-- Whether somebody is among those whom a gate's configuration names, as `members`, `roles`, `emails` or `api_keys`.
CREATE FUNCTION "is_among"(named jsonb, who text, member_role text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    (member_role IS NOT NULL AND (named -> 'members' ? lower(who) OR named -> 'roles' ? member_role))
      OR named -> 'emails' ? lower(who) OR (starts_with(who, 'api-key:') AND named -> 'api_keys' = 'true'), false);
$$;--> statement-breakpoint
-- Whether an answer of theirs counts: of anybody where nobody is named; once it has escalated of those named for that too.
-- `member_role` is null of whoever is no member of the workspace.
CREATE FUNCTION "may_answer"(config jsonb, is_escalated boolean, who text, member_role text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT config -> 'approvers' IS NULL OR is_among(config -> 'approvers', who, member_role)
    OR (is_escalated AND is_among(config -> 'escalate_to', who, member_role));
$$;
