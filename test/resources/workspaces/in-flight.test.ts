/** What comes in for a while may find somebody else in charge at its end: it does not land, and leaves nothing. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { readdir } from 'node:fs/promises';
import { present } from '../../../src/platform/core/present.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { attachmentForm, picture, workflowOf } from '../../support/fixtures/belongings.ts';
import { endpoints, fillPath, parameterNames } from '../../support/http/endpoints.ts';
import { INTERNAL_CALLER } from '../../support/http/send.ts';
import {
  sessionFor,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { askAs } from './asking.ts';

let service: TestService;
let nth = 0;
beforeAll(async () => {
  service = await startTestService({ env: { HOUSEKEEPING_INTERVAL: '1h' } });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
});
afterAll(() => service.close());

const uploads = endpoints.filter(({ upload, uploads: streamed }) => upload ?? streamed);

/** A workspace with what files can be put beside, and the address of an upload to it. */
async function prepare(): Promise<{ tenant: Tenant; workspaceId: string; address: (endpoint: Endpoint) => string }> {
  // Files of other services are in the same folder.
  const workspaceId = `acc_inflight-${process.pid}-${++nth}`;
  const tenant = await service.tenant(workspaceId);
  const made = async (answer: ReturnType<Tenant['cp']>) => {
    const { status, body } = await answer;
    expect(status).toBeLessThan(300);
    return body;
  };
  await made(tenant.cp('POST', '/v1/agents', { slug: 'own', model: 'offline', prompt: 'You help.' }));
  await made(tenant.cp('POST', '/v1/workflows', { spec: workflowOf('own', 'short', 'short') }));
  const project = await made(tenant.cp('POST', '/v1/projects', { workflow_slug: 'short', title: 'A', brief: 'B' }));
  const job = await made(
    tenant.cp('POST', '/v1/scheduled-jobs', { name: 'job', cron: '0 6 1 1 *', agent_slug: 'own', brief: 'Hello' }),
  );
  const thread = await made(tenant.cp('POST', '/v1/chat/threads', { title: 'thread', agent: 'own' }));
  const ids: Record<string, Record<string, string>> = {
    'agents.putAvatar': { slug: 'own' },
    'attachments.upload': { project_id: project.id },
    'chat.uploadAttachments': { id: thread.id },
    'scheduled-jobs.uploadAttachments': { job_id: job.id },
  };
  return {
    tenant,
    workspaceId,
    address(endpoint) {
      const named = parameterNames(endpoint).length ? present(ids[endpoint.id]) : {};
      return `${service.baseUrl}/api/v1/cp${fillPath(endpoint, named)}`;
    },
  };
}

/** Sends a form by halves. @returns its end, which sends the rest and answers */
async function begin(url: string, session: string, endpoint: Endpoint) {
  const form = new FormData();
  form.set('file', new Blob([await picture()]), 'file');
  const whole = new Response(endpoint.upload ? form : attachmentForm('mark'));
  const bytes = new Uint8Array(await whole.arrayBuffer());
  const half = Math.floor(bytes.length / 2);
  let send: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = controller;
      controller.enqueue(bytes.slice(0, half));
    },
  });
  const headers = { cookie: `service_session=${session}`, 'content-type': present(whole.headers.get('content-type')) };
  const answer = fetch(url, { method: endpoint.method.toUpperCase(), headers, body, duplex: 'half' } as RequestInit);
  // It is admitted, and has begun to be read.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return async () => {
    send.enqueue(bytes.slice(half));
    send.close();
    return (await answer).status;
  };
}

/** Files and rows that a workspace has. */
async function leftOf({ caller }: Tenant): Promise<unknown[]> {
  const { rows } = service.runtime.db;
  const folders = await readdir(service.runtime.config.DATA_DIR, { recursive: true, withFileTypes: true });
  return [
    ...(await rows(sql`select filename from attachments where customer_id = ${caller.customerId}`)),
    ...(await rows(
      sql`select avatar_file from agent_settings where customer_id = ${caller.customerId} and avatar_file is not null`,
    )),
    ...folders.filter((entry) => entry.isFile() && entry.parentPath.includes(`/${caller.customerId}`)),
  ];
}

describe.each(uploads.map((endpoint) => [endpoint.id, endpoint] as const))('%s', (_id, endpoint) => {
  // Guards against: bytes that are stored for a workspace that is gone and stay for ever, or an internal error in that
  // case.
  test('does not land in a workspace that has ended meanwhile', async () => {
    const { tenant, workspaceId, address } = await prepare();
    const end = await begin(address(endpoint), tenant.session, endpoint);
    expect(await askAs(service, INTERNAL_CALLER)('DELETE', `/${workspaceId}`)).toMatchObject({ status: 200 });
    expect(await end()).toBe(403);
    expect(await leftOf(tenant)).toEqual([]);
  });

  // Guards against: a request that goes on for a person who was removed meanwhile.
  test('does not land from somebody who was removed meanwhile', async () => {
    const { tenant, workspaceId, address } = await prepare();
    const email = 'leaver@members.example';
    // The last owner cannot be removed.
    await tenant.cp('POST', `/v1/workspaces/${workspaceId}/members`, { email: 'stays@members.example', role: 'owner' });
    const { body } = await tenant.cp('POST', `/v1/workspaces/${workspaceId}/members`, { email, role: 'member' });
    const session = sessionFor({ ...tenant.caller, actor: email }, 'member');
    expect((await tenantOf(service.baseUrl, tenant.caller, '', session).cp('GET', '/v1/runs')).status).toBe(200);
    const end = await begin(address(endpoint), session, endpoint);
    expect((await tenant.cp('DELETE', `/v1/workspaces/${workspaceId}/members/${body.id}`)).status).toBe(204);
    expect(await end()).toBe(401);
    expect(await leftOf(tenant)).toEqual([]);
  });
});
