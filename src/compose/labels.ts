/** @returns a label of a metric: names that tenants choose share one, because there could be any number of them */
export const shippedOrCustom = (name: string | null, isShipped: boolean): string => (isShipped ? name! : 'custom');
