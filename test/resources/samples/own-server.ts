/** A model server that a workspace configures for itself. */
import { confirmed } from '../../support/service/otp.ts';
import type { Tenant } from '../../support/service/service.ts';

export async function setOwnServer(tenant: Tenant, baseUrl: string): Promise<void> {
  const path = '/v1/integrations/openai-compatible/secrets/server.base_url';
  const { status, body } = await confirmed(tenant, 'PUT', path, { value: baseUrl });
  if (status !== 200) throw new Error(`not set: ${status} ${JSON.stringify(body)}`);
}
