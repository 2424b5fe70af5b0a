/** What followers see of things that were accepted and whose start Temporal refused. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';
import { openStream, type OpenStream, type SentEvent } from '../../support/http/event-stream.ts';
import { dispatch } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let wire: TcpProxy;
let service: TestService;
let tenant: Tenant;
const streams: OpenStream[] = [];
beforeAll(async () => {
  wire = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  process.env.TEST_TEMPORAL_ADDRESS = wire.address; // of this file alone: jest gives each its own environment
  service = await startTestService({ worker: false, env: { LIVE_STREAM_LIFE: '1h' } });
  tenant = await service.tenant('acc_refused');
});
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
  await wire.restore();
});
afterAll(async () => {
  await service?.close();
  await wire?.close();
});

async function follow(query = ''): Promise<OpenStream> {
  const url = `${service.baseUrl}/api/v1/cp/v1/live${query}`;
  const stream = await openStream(url, { cookie: `service_session=${tenant.session}` });
  streams.push(stream);
  await stream.first(({ event }) => event === 'open');
  return stream;
}
const told = ({ events }: OpenStream): SentEvent[] => events.filter(({ event }) => event !== 'open');
const unreachable = { status: 502, body: { detail: 'runtime_unreachable' } };

// Guards: whoever follows while a run is accepted and withdrawn, and whoever resumes later, with whatever filter, sees the same
// events of it, in the same places: that it was received, and that its start was refused.
test('a run whose start is refused is told of to its end', async () => {
  const kept = await dispatch(tenant, { agent: 'writer', prompt: 'Accepted in time' });
  const thread = (await tenant.cp('POST', '/v1/chat/threads', { title: 'Talk', agent: 'writer' })).body.id;
  const watching = await follow('?after=0');
  const { id: start } = await watching.first(({ data }) => data.topic === 'run_received');
  // A start that hangs leaves the follower the time to see that the run was received.
  await wire.cut('hang');
  const refused = await Promise.all([
    tenant.api('POST', '/v1/runs', { agent: 'writer', prompt: 'Never mind' }),
    tenant.cp('POST', `/v1/runs/${kept}/retry`),
    tenant.cp('POST', `/v1/chat/threads/${thread}/messages`, { content: 'Never mind' }),
  ]);
  expect(refused.map(({ status, body }) => ({ status, body }))).toEqual(Array(3).fill(unreachable));
  await watching.first(() => told(watching).filter(({ event }) => event === 'start').length === 3);

  const seen = told(watching).slice(1);
  const runs = [...new Set(seen.map(({ data }) => data.run_id as string))];
  expect(runs).toHaveLength(3);
  for (const run of runs) {
    const events = seen.filter(({ data }) => data.run_id === run);
    expect(events.map(({ event, data }) => [event, data.topic, data.project_id])).toEqual([
      ['run', 'run_received', null],
      ['start', 'refused', null],
    ]);
    expect(present(events[0]).data.event).toMatchObject({
      event_type: 'run_received',
      agent: 'writer',
      status: 'queued',
    });
    expect(present(events[1]).data.event).toMatchObject({ id: run, topic: 'refused', payload: { of: 'run' } });
    expect((await tenant.cp('GET', `/v1/runs/${run}/events`)).status).toBe(404);
  }

  const laterSeen = async (query: string, expected: SentEvent[]): Promise<void> => {
    const later = await follow(`?after=${start}${query}`);
    await later.first(({ id }) => id === present(expected.at(-1)).id);
    expect(told(later)).toEqual(expected);
  };
  const some = present(runs[0]);
  await laterSeen('', seen);
  await laterSeen(
    '&kind=run',
    seen.filter(({ event }) => event === 'run'),
  );
  await laterSeen('&kind=run,start', seen);
  await laterSeen(
    '&kind=start',
    seen.filter(({ event }) => event === 'start'),
  );
  await laterSeen(
    `&run_id=${some}`,
    seen.filter(({ data }) => data.run_id === some),
  );
  await laterSeen(
    `&run_id=${some}&kind=run`,
    seen.filter(({ event, data }) => event === 'run' && data.run_id === some),
  );
});

// Guards: of anything else that is taken back because Temporal could not be asked, nothing was told that is not in the log
// later: a project has no event before its workflow writes one, nor has a schedule before it is switched, and a change of one
// that is taken back is told as two.
test('projects and schedules leave nothing in the log that is not so', async () => {
  const job = { name: 'Nightly', cron: '0 3 * * *', agent_slug: 'writer', brief: 'Sum up.', enabled: true };
  const made = await tenant.cp('POST', '/v1/scheduled-jobs', job);
  expect(made.status).toBe(201);
  const beat = { name: 'Pulse', agent_slug: 'writer', prompt: 'Look.', interval_s: 3_600 };
  const watching = await follow();
  await wire.cut('refuse');
  const refused = await Promise.all([
    tenant.cp('POST', '/v1/projects', { workflow_slug: 'blog-post', title: 'Never', brief: 'Never mind' }),
    tenant.api('POST', '/v1/projects', { workflow_slug: 'blog-post', brief: 'Never mind' }),
    tenant.cp('POST', '/v1/scheduled-jobs', { ...job, name: 'Other' }),
    tenant.cp('POST', '/v1/heartbeats', beat),
    tenant.cp('PATCH', `/v1/scheduled-jobs/${made.body.id}`, { enabled: false }),
  ]);
  expect(refused.map(({ status, body }) => ({ status, body }))).toEqual(Array(5).fill(unreachable));
  // A run's events come after everything that was told before.
  await tenant.api('POST', '/v1/runs', { agent: 'writer', prompt: 'Never mind' });
  await watching.first(({ event }) => event === 'start');
  expect(told(watching).map(({ event, data }) => [event, data.topic])).toEqual([
    ['schedule', 'switched_off'],
    ['schedule', 'switched_on'],
    ['run', 'run_received'],
    ['start', 'refused'],
  ]);
});
