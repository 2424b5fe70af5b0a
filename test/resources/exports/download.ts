/** Downloads archives, all of one or a part: GET /v1/workspaces/{id}/exports/{id}/archive, `exports.download`. */
import type { Tenant, TestService } from '../../support/service/service.ts';

export interface Part {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

export async function downloadPart(
  { baseUrl }: Pick<TestService, 'baseUrl'>,
  { session, caller }: Pick<Tenant, 'session' | 'caller'>,
  exportId: string,
  headers: Record<string, string> = {},
): Promise<Part> {
  const response = await fetch(`${baseUrl}/api/v1/cp/v1/workspaces/${caller.workspaceId}/exports/${exportId}/archive`, {
    headers: { ...headers, cookie: `service_session=${session}` },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

export async function download(
  service: Pick<TestService, 'baseUrl'>,
  tenant: Pick<Tenant, 'session' | 'caller'>,
  exportId: string,
): Promise<Buffer> {
  const { status, bytes } = await downloadPart(service, tenant, exportId);
  if (status !== 200) throw new Error(`not downloaded: ${status} ${bytes.toString()}`);
  return bytes;
}
