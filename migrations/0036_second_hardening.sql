CREATE TABLE "otp_holder_locks" (
	"customer_id" text NOT NULL,
	"holder" text NOT NULL,
	"wrong_in_a_row" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone,
	CONSTRAINT "otp_holder_locks_customer_id_holder_pk" PRIMARY KEY("customer_id","holder")
);
--> statement-breakpoint
CREATE TABLE "member_subjects" (
	"customer_id" text NOT NULL,
	"subject" text NOT NULL,
	"email" text NOT NULL,
	CONSTRAINT "member_subjects_customer_id_subject_pk" PRIMARY KEY("customer_id","subject")
);
--> statement-breakpoint
DROP TABLE "workspace_imports" CASCADE;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "made_by" text;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "caller" text;--> statement-breakpoint
ALTER TABLE "manifest_origins" ADD COLUMN "created_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "otp_challenges" ADD COLUMN "holder" text;--> statement-breakpoint
ALTER TABLE "otp_holder_locks" ADD CONSTRAINT "otp_holder_locks_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "member_subjects" ADD CONSTRAINT "member_subjects_customer_id_workspaces_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."workspaces"("customer_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
DROP TYPE "public"."import_phase";--> statement-breakpoint
DROP TYPE "public"."import_status";--> statement-breakpoint
-- By hand: the person behind a name in records. A key or a token is its maker; keys without a recorded maker are one person, as nobody can
-- tell them apart. A subject is the member that it was seen with. Everybody else is the name in lower case.
CREATE FUNCTION "person_behind"(of_customer text, who text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce((SELECT s.email FROM member_subjects s WHERE s.customer_id = of_customer AND s.subject = maker.name), maker.name))
  FROM (SELECT CASE
    WHEN starts_with(who, 'api-key:') THEN coalesce((
      SELECT k.made_by FROM api_keys k WHERE k.customer_id = of_customer AND 'api-key:' || k.id = who), 'api-key')
    WHEN starts_with(who, 'deploy-token:') THEN coalesce((
      SELECT t.created_by FROM deploy_tokens t WHERE t.customer_id = of_customer AND 'deploy-token:' || t.id = who), who)
    ELSE who END AS name) maker;
$$;--> statement-breakpoint
-- Whether an answer of theirs counts at this moment: nobody who was removed or only looks has a say, whoever a gate names, and neither
-- has a key of theirs or one that was revoked.
CREATE FUNCTION "has_say"(of_customer text, config jsonb, is_escalated boolean, who text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT NOT EXISTS (SELECT FROM former_members f WHERE f.customer_id = of_customer AND f.email = one.person)
    AND NOT EXISTS (
      SELECT FROM api_keys k WHERE k.customer_id = of_customer AND 'api-key:' || k.id = who AND k.revoked_at IS NOT NULL)
    AND m.role::text IS DISTINCT FROM 'viewer'
    AND CASE WHEN starts_with(who, 'api-key:') THEN may_answer(config, is_escalated, who, NULL)
      ELSE may_answer(config, is_escalated, one.person, m.role::text) END
  FROM (SELECT person_behind(of_customer, who) AS person) one
    LEFT JOIN workspace_members m ON m.customer_id = of_customer AND m.email = one.person;
$$;--> statement-breakpoint
-- As before, by the above.
CREATE OR REPLACE FUNCTION "seat_at"(of_wait uuid, of_customer text, config jsonb, is_escalated boolean, who text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN has_say(of_customer, config, is_escalated, who) THEN who
  ELSE (
    SELECT d.delegator FROM wait_delegations d
      JOIN workspace_members stand_in ON stand_in.customer_id = d.customer_id AND stand_in.email = d.stand_in
    WHERE d.wait_id = of_wait AND d.customer_id = of_customer AND d.stand_in = lower(who) AND d.until > now()
      AND has_say(of_customer, NULL, false, d.stand_in) AND has_say(of_customer, config, is_escalated, d.delegator)
    ORDER BY d.created_at, d.delegator LIMIT 1) END;
$$;--> statement-breakpoint
-- How many persons approve who have a say by now: neither one person with two credentials nor one who fills two seats is two.
CREATE FUNCTION "approvals_of"(of_wait uuid, of_customer text, of_revision integer, config jsonb, is_escalated boolean) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT least(count(DISTINCT person_behind(of_customer, v.voter)),
    count(DISTINCT person_behind(of_customer, coalesce(v.seat, v.voter))))::integer
  FROM wait_votes v
  WHERE v.wait_id = of_wait AND v.customer_id = of_customer AND v.revision = of_revision AND v.answer = 'approve'
    AND has_say(of_customer, config, is_escalated, coalesce(v.seat, v.voter))
    AND (v.seat IS NULL OR (has_say(of_customer, NULL, false, v.voter) AND EXISTS (
      SELECT FROM workspace_members m WHERE m.customer_id = of_customer AND m.email = lower(v.voter))));
$$;--> statement-breakpoint
-- By hand: texts that are searched lose the keys of page addresses before they are indexed or cut, so that no search tells a part of one.
-- src/platform/core/page-keys.ts takes the keys out of what is stored; this is for rows of the release before.
CREATE FUNCTION "without_page_keys"(of_text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN of_text ~* 'miniapps|act|token' THEN regexp_replace(regexp_replace(regexp_replace(of_text,
    '(miniapps(?:\\*/|%(?:25)*2F|&#x2F;|&#47;)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[\w-]*', '\1', 'gi'),
    '(miniapps(?:\\*/|%(?:25)*2F|&#x2F;|&#47;))[\w-]{37,}', '\1***', 'gi'),
    '((?:act(?:\\*/|%(?:25)*2F|&#x2F;|&#47;)|token(?:=|%(?:25)*3D|&#x3D;|&#61;)))[\w-]{10,}\.(?:[\w-]{1,40}\.)?[\w-]{16,}', '\1***', 'gi')
  ELSE of_text END;
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "search_words"(of_text text, weight "char") RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT setweight(to_tsvector('simple'::regconfig, translate(left(coalesce(without_page_keys(of_text), ''), 50000), './-_:@&<>=?%~+#*\''', '                  ')), weight);
$$;--> statement-breakpoint
-- A page takes an answer for seven days, so that older documents have no key that opens anything.
UPDATE "search_documents" d SET "words" = search_words_of(t) FROM "runs" t
  WHERE d.kind = 'run' AND t.id = d.subject AND d.at > now() - interval '8 days' AND d.words @@ '''miniapps'''::tsquery;--> statement-breakpoint
UPDATE "search_documents" d SET "words" = search_words_of(t) FROM "projects" t
  WHERE d.kind = 'project' AND t.id = d.subject AND d.words @@ '''miniapps'''::tsquery;--> statement-breakpoint
UPDATE "search_documents" d SET "words" = search_words_of(t) FROM "artifacts" t
  WHERE d.kind = 'artifact' AND t.id::text = d.subject AND d.at > now() - interval '8 days' AND d.words @@ '''miniapps'''::tsquery;--> statement-breakpoint
UPDATE "search_documents" d SET "words" = search_words_of_event(t.customer_id, t.topic, t.payload) FROM "project_events" t
  WHERE d.kind = 'event' AND d.subject NOT LIKE 'log-%' AND t.id::text = d.subject AND d.at > now() - interval '8 days' AND d.words @@ '''miniapps'''::tsquery;--> statement-breakpoint
UPDATE "search_documents" d SET "words" = search_words_of_event(t.customer_id, t.topic, t.payload) FROM "log_events" t
  WHERE d.kind = 'event' AND 'log-' || t.seq = d.subject AND t.customer_id = d.customer_id AND t.ts = d.at AND d.at > now() - interval '8 days' AND d.words @@ '''miniapps'''::tsquery;--> statement-breakpoint
UPDATE "search_documents" d SET "words" = search_words_of(t) FROM "run_events" t
  WHERE d.kind = 'event' AND 'log-r' || t.id = d.subject AND d.at > now() - interval '8 days' AND d.words @@ '''miniapps'''::tsquery;
