/** What Prometheus reads at the control plane. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call, eventually, startTestService, type TestService } from '../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(() => service?.close());

const scrape = () => call(`${service.controlPlaneUrl}/metrics`, 'GET', {});
/** Value of the series that has all of these labels. */
function valueOf(text: string, name: string, labels: Record<string, string>): number | undefined {
  const line = text
    .split('\n')
    .filter((each) => each.startsWith(`${name}{`))
    .find((each) => Object.entries(labels).every(([label, value]) => each.includes(`${label}="${value}"`)));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

// Guards: waiting work is counted over all workspaces with the age of the oldest, without naming a workspace.
test('tell what waits', async () => {
  const [one, other] = [await service.tenant('acc_one'), await service.tenant('acc_other')];
  for (const tenant of [one, one, other]) {
    await tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Wait.' });
  }
  const { status, headers, body } = await scrape();
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 200,
    type: expect.stringMatching(/^text\/plain; version=/),
  });
  expect(valueOf(body, 'aos_backlog', { kind: 'run', status: 'queued' })).toBe(3);
  expect(valueOf(body, 'aos_backlog_oldest_seconds', { kind: 'run', status: 'queued' })).toBeGreaterThanOrEqual(0);
  expect(body).toMatch(/^aos_database_up 1$/m);
  expect(body).toContain('process_resident_memory_bytes');
  expect(body).not.toMatch(/acc_one|acc_other|"one"|"other/);
});

// Guards: a route is one series, however many ids it is called with, and unknown addresses are one series together.
test('time requests by their route', async () => {
  const tenant = await service.tenant('acc_timed');
  const count = { listener: 'gateway', method: 'GET', route: '/v1/runs/{run_id}', status: '404' };
  for (const id of ['a', 'b']) await tenant.api('GET', `/v1/runs/${id}`);
  await tenant.cp('GET', '/v1/workspaces/acc_nobody');
  await fetch(`${service.baseUrl}/v1/no-such-thing`);
  await eventually(async () => {
    const { body } = await scrape();
    expect(valueOf(body, 'aos_http_request_duration_seconds_count', count)).toBe(2);
    const proxied = { listener: 'gateway', route: '/v1/workspaces/{identity_workspace_id}' };
    expect(valueOf(body, 'aos_http_request_duration_seconds_count', proxied)).toBe(1);
    const none = { listener: 'gateway', route: 'other', status: '404' };
    expect(valueOf(body, 'aos_http_request_duration_seconds_count', none)).toBe(1);
  });
});

// Guards: metrics are for the operator: the gateway, which is open to the world, serves none.
test('are not on the gateway', async () => {
  for (const path of ['/metrics', '/api/v1/cp/metrics']) {
    expect([401, 404]).toContain((await fetch(service.baseUrl + path)).status);
  }
  const tenant = await service.tenant('acc_curious');
  expect(await tenant.cp('GET', '/metrics')).toMatchObject({ status: 404, body: { detail: 'not_found' } });
  expect(await call(`${service.controlPlaneUrl}/metrics`, 'POST', {})).toMatchObject({ status: 404 });
});
