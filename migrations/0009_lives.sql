ALTER TABLE "workspaces" ADD COLUMN "audit_from" bigint;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD CONSTRAINT "webhook_subscriptions_of_workspace" UNIQUE("customer_id","id");--> statement-breakpoint
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_subscription_id_webhook_subscriptions_id_fk";--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_of_endpoint" FOREIGN KEY ("customer_id","subscription_id") REFERENCES "public"."webhook_subscriptions"("customer_id","id") ON DELETE no action ON UPDATE no action;
