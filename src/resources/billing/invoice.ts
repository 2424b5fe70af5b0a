/** Reads from an invoice of the provider what it is for, in its forms of several years. */
import { z } from 'zod';

const Named = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

const Line = z.object({
  amount: z.number().optional(),
  pricing: z
    .object({ price_details: z.object({ product: Named }) })
    .optional()
    .catch(undefined),
  price: z.object({ product: Named }).optional().catch(undefined),
});

const Details = z.object({
  subscription: Named.optional(),
  metadata: z.object({ plan_id: z.string().optional() }).nullish(),
});

const Invoice = z.object({
  subscription: Named.nullish().catch(undefined),
  parent: z.object({ subscription_details: Details.nullish() }).nullish().catch(undefined),
  lines: z
    .object({ data: z.array(Line) })
    .optional()
    .catch(undefined),
});

export interface PaidInvoice {
  subscriptionId: string;
  /** The plans that it charges for. What it gives back for an earlier plan is no purchase. */
  planIds: string[];
}

/** @returns undefined for an invoice that belongs to no subscription */
export function paidInvoice(object: Record<string, unknown>): PaidInvoice | undefined {
  const { data } = Invoice.safeParse(object);
  const details = data?.parent?.subscription_details;
  const subscriptionId = details?.subscription ?? data?.subscription;
  if (!data || !subscriptionId) return undefined;
  const products = (data.lines?.data ?? [])
    .filter(({ amount = 0 }) => amount >= 0)
    .flatMap(({ pricing, price }) => pricing?.price_details.product ?? price?.product ?? []);
  const meant = details?.metadata?.plan_id;
  return { subscriptionId, planIds: products.length > 0 || meant === undefined ? products : [meant] };
}
