/** The start of the check of one credential. */

/** The server knows the workflow by this type. */
export const INTEGRATION_HEALTH = 'integrationHealth';

export interface IntegrationHealthInput {
  /** The credential that was just given. */
  tokenId: string;
}
