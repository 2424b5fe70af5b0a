/** A label of a metric: names that tenants choose are as many as they like. */
export const shippedOrCustom = (name: string | null, isShipped: boolean): string => (isShipped ? name! : 'custom');
