CREATE TABLE "idempotency_keys" (
	"customer_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"key_hash" text NOT NULL,
	"request_hash" text NOT NULL,
	"token" uuid NOT NULL,
	"owner" uuid NOT NULL,
	"lease_until" timestamp with time zone NOT NULL,
	"tries" integer DEFAULT 1 NOT NULL,
	"made" text,
	"answer" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_customer_id_endpoint_key_hash_pk" PRIMARY KEY("customer_id","endpoint","key_hash")
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_time" ON "idempotency_keys" USING btree ("created_at");