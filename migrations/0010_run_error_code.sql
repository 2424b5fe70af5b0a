ALTER TABLE "runs" ADD COLUMN "error_code" text;--> statement-breakpoint
UPDATE "runs" SET "error_code" = split_part("error", ': ', 1) WHERE "status" = 'failed' AND "error" ~ '^[a-z_]+: ';
