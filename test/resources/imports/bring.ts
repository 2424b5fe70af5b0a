/** Sends an archive and waits until it is brought: `imports.create`, `imports.sendPart`, `imports.start`, `imports.get`. */
import { codeOf, demandIn } from '../../support/service/otp.ts';
import { digest } from '../../support/archives/make.ts';
import { eventually, type Tenant } from '../../support/service/service.ts';

// What a test expects of a body is what its assertions say.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const pathOf = ({ caller }: Pick<Tenant, 'caller'>, more = ''): string =>
  `/v1/workspaces/${caller.workspaceId}/imports${more}`;

export async function announce(tenant: Tenant, archive: Buffer, sha256 = digest(archive)): Promise<Body> {
  const body = { size_bytes: archive.length, sha256 };
  const { challenge_id: challenge } = demandIn(await tenant.cp('POST', pathOf(tenant), body));
  const headers = { 'x-service-otp-challenge': challenge, 'x-service-otp-code': codeOf(challenge) };
  const { status, body: made } = await tenant.cp('POST', pathOf(tenant), body, headers);
  if (status !== 201) throw new Error(`not announced: ${status} ${JSON.stringify(made)}`);
  return made;
}

export const sendPart = (tenant: Tenant, importId: string, part: number, bytes: Buffer) => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), 'part');
  return tenant.cp('PUT', pathOf(tenant, `/${importId}/parts/${part}`), form);
};

export async function begin(tenant: Tenant, archive: Buffer, sha256?: string): Promise<string> {
  const { id, part_bytes: size, of_parts: all } = await announce(tenant, archive, sha256);
  for (let part = 0; part < all; part++) {
    const sent = await sendPart(tenant, id, part, archive.subarray(part * size, (part + 1) * size));
    if (sent.status !== 204) throw new Error(`not taken: ${sent.status} ${JSON.stringify(sent.body)}`);
  }
  const started = await tenant.cp('POST', pathOf(tenant, `/${id}/start`));
  if (started.status !== 200) throw new Error(`not begun: ${started.status} ${JSON.stringify(started.body)}`);
  return String(id);
}

/** @returns the import when it is over, whatever came of it */
export async function bring(tenant: Tenant, archive: Buffer, sha256?: string, timeoutMs = 30_000): Promise<Body> {
  const id = await begin(tenant, archive, sha256);
  return eventually(async () => {
    const { body } = await tenant.cp('GET', pathOf(tenant, `/${id}`));
    if (['queued', 'running'].includes(body.status)) throw new Error(`it is still ${body.status}`);
    return body;
  }, timeoutMs);
}
