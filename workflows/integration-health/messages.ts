/** What a look at the health of credentials is started with. */

/** The workflow's type, as the server knows it. */
export const INTEGRATION_HEALTH = 'integrationHealth';

export interface IntegrationHealthInput {
  /** The credential that was just given; without one, all that are due. */
  tokenId?: string;
}
