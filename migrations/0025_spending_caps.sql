ALTER TABLE "budgets" ADD COLUMN "period" text;--> statement-breakpoint
ALTER TABLE "budgets" ADD COLUMN "period_start" date;--> statement-breakpoint
CREATE INDEX "budgets_capping" ON "budgets" USING btree ("customer_id") WHERE "budgets"."period" is not null;