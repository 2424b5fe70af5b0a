/** What keeps one workspace from taking all slots of a worker, looked at for each activity that there is. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';
import { globSync, readFileSync } from 'node:fs';
import type { Activities } from '../../activities/index.ts';
import { SLOTS } from '../../activities/slots.ts';
import { composeActivities } from '../../src/compose/activities.ts';
import { createActivitySlots } from '../../src/platform/temporal/activity-slots.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

let service: TestService;
let activities: Activities;
let checks = 0;
beforeAll(async () => {
  service = await startTestService({ worker: false });
  const services = { ...service.services, checkCredentials: async () => void (checks += 1) };
  activities = composeActivities(service.runtime, services);
});
afterAll(() => service?.close());

const named = (...slots: readonly string[]): string[] =>
  Object.entries(SLOTS).flatMap(([name, its]) => (slots.includes(its) ? name : []));

// Guards against: an activity that is added, of which nobody has asked whether one workspace can take all slots with it.
test('each activity is in the table', () => {
  expect(Object.keys(SLOTS).sort()).toEqual(Object.keys(activities).sort());
});

interface RecordedEvent {
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  markerRecordedEventAttributes?: { markerName: string; details: { data?: { payloads: { data: string }[] } } };
}

// Guards: what is called a record takes no slot of the worker, as workflows really call it.
test('records are local activities, and no others are', () => {
  const paths = globSync('test/histories/*.json');
  const events = paths.flatMap((path): RecordedEvent[] => JSON.parse(readFileSync(path, 'utf8')).events);
  const scheduled = events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType.name ?? []);
  const local = events.flatMap(({ markerRecordedEventAttributes: marker }): string[] => {
    if (marker?.markerName !== 'core_local_activity') return [];
    const told = Buffer.from(marker.details.data?.payloads[0]?.data ?? '', 'base64').toString();
    return [JSON.parse(told).activity_type];
  });
  expect(local.length).toBeGreaterThan(0);
  expect([...new Set(local)].filter((name) => !named('record').includes(name))).toEqual([]);
  expect([...new Set(scheduled)].filter((name) => named('record').includes(name))).toEqual([]);
});

describe('work of a workspace over its share', () => {
  const ref = { deliveryId: '00000000-0000-7000-8000-000000000000', redelivery: 0, mayWait: true };
  const work = { projectId: 'p', taskId: 't', iteration: 1, subtaskId: 's', attemptId: 'a', mayWait: true };
  const calls: Record<string, () => Promise<unknown>> = {
    takeTurn: () => activities.takeTurn({ runId: 'none', turn: 1, limits: { maxTurns: 1, maxTokens: 1 } }),
    callTool: () => activities.callTool({ runId: 'none', callId: 'none', mayWait: true }),
    runAction: () => activities.runAction(work),
    deliverWebhook: () => activities.deliverWebhook(ref),
    deliverOutput: () => activities.deliverOutput(ref),
    checkCredentials: () => activities.checkCredentials({ tokenId: 'none' }).then(() => (checks ? {} : { waitMs: 1 })),
  };

  // Guards: what is said to give its slot back does, before it begins its work.
  test.each(named('model call', 'work'))('%s gives its slot back', async (name) => {
    const slots = createActivitySlots(2);
    const done = Promise.withResolvers<void>();
    const held = slots.hold('acme', () => done.promise);
    const call = calls[name] ?? (() => Promise.resolve(`${name} is not tried here`));
    const first = { info: { attempt: 1 } };
    const result: unknown = await slots.hold('acme', () =>
      Reflect.apply(asyncLocalStorage.run, asyncLocalStorage, [first, call]),
    );
    expect(JSON.stringify(result)).toMatch(/"(waitMs|slotWaitMs|lookMs)":\d+/);
    expect(slots.use()).toMatchObject({ taken: 1, waiting: 1 });
    done.resolve();
    await held;
  });
});

// Guards: the page says of each activity what the code says.
test('the table of the documents has each activity that takes a slot', () => {
  const page = readFileSync('docs/operate/performance.md', 'utf8');
  const rows = page.split('\n').filter((line) => /^\| (model call|work|few|deployment) /.test(line));
  const said = rows.flatMap((row) => {
    const [, kind = '', names = ''] = row.split('|').map((cell) => cell.trim());
    return [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${kind}: ${name}`);
  });
  const taking = Object.entries(SLOTS).filter(([, slots]) => slots !== 'record');
  expect([...said].sort()).toEqual(taking.map(([name, slots]) => `${slots}: ${name}`).sort());
});
