/** Projects while Temporal is away. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { dumpRecords } from '../../support/database/dump-tables.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';
import { makeProject, makeTemplate, request } from './pipeline.ts';

let wire: TcpProxy;
let service: TestService;
let acme: Tenant;
let path: string;
beforeAll(async () => {
  wire = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  process.env.TEST_TEMPORAL_ADDRESS = wire.address; // of this file alone: jest gives each its own environment
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme');
  await makeTemplate(acme);
  const { id } = await makeProject(acme, { cost_budget_usd: '1' });
  path = `/v1/projects/${id}`;
  // That it was started is noted a few seconds later.
  await eventually(async () => {
    const [row] = await service.runtime.db.rows(sql`select 1 from projects where id = ${id} and start_due_at is null`);
    expect(row).toBeDefined();
  });
});
afterEach(() => wire.restore());
afterAll(async () => {
  await service?.close();
  await wire?.close();
});

const DEADLINE_MS = 9_000;

/** All there is, but for what was said with commands that came to nothing. */
const record = async () =>
  (await dumpRecords(service.runtime.db)).filter((row) => !row.startsWith('public.project_commands'));

describe.each(['refuse', 'hang'] as const)('when Temporal is away (connections %s)', (how) => {
  // Guards: an operation that needs Temporal answers 502 in time and changes nothing: no project, task, step or budget
  // is left.
  test('starts and commands are refused and leave nothing', async () => {
    const before = await record();
    await wire.cut(how);
    const asks = [
      () => acme.cp('POST', '/v1/projects', { ...request, cost_budget_usd: 2 }),
      () => acme.api('POST', '/v1/projects', request),
      () => acme.cp('POST', `${path}/pause`),
      () => acme.cp('POST', `${path}/run-step`),
      () => acme.cp('POST', `${path}/phases/outline/retrigger`),
    ];
    const answers = await Promise.all(
      asks.map(async (ask) => {
        const startedAt = performance.now();
        const { status, body } = await ask();
        return { status, body, isInTime: performance.now() - startedAt < DEADLINE_MS };
      }),
    );
    const unreachable = { status: 502, body: { detail: 'runtime_unreachable' }, isInTime: true };
    expect(answers).toEqual(asks.map(() => unreachable));
    expect(await record()).toEqual(before);
  });

  // Guards: operations that need only Postgres work.
  test('reads and changes go on', async () => {
    await wire.cut(how);
    for (const read of ['', '/tasks', '/events', '/artifacts', '/cost']) {
      expect((await acme.cp('GET', path + read)).status).toBe(200);
    }
    expect((await acme.api('GET', path)).status).toBe(200);
    expect((await acme.cp('PATCH', path, { cost_budget_usd: '1' })).status).toBe(200);
  });
});

// Guards: the connection recovers by itself.
test('it recovers by itself', async () => {
  await wire.restore();
  await makeProject(acme);
});
