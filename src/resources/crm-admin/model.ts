/** Words of the operator's notes on customers. */
export const CRM_STATUSES = ['lead', 'trial', 'active', 'at_risk', 'churned'] as const;
export type CrmStatus = (typeof CRM_STATUSES)[number];
