/** Words of integrations. Pure. */

/** From best to worst. */
export const HEALTH_STATUSES = ['ok', 'unchecked', 'rate_limited', 'expired', 'invalid'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];
/** Of an integration: the worst of its credentials; `unconfigured` beats everything. */
export type IntegrationStatus = HealthStatus | 'unconfigured';
