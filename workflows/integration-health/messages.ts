/** The start of a check of credentials. */

/** The server knows the workflow by this type. */
export const INTEGRATION_HEALTH = 'integrationHealth';

export interface IntegrationHealthInput {
  /** The credential that was just given; without one, all that are due are checked. */
  tokenId?: string;
}
