/**
 * Storage that is stopped, frozen, full, without its bucket, or closed to the credential, with a gateway of its own: what
 * callers are told, what stays behind, and what waits.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createLog } from '../../../src/platform/core/log.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { standBefore, type Front } from '../../support/faults/front.ts';
import { reasonAgainstMounts } from '../../support/faults/small-disk.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { isMissing } from '../../support/programs/missing.ts';
import { startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';
import { confirmed, mailbox } from '../../support/service/otp.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';
import { askAs } from '../workspaces/asking.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const DISK_BYTES = 16 * 2 ** 20;
/** A caller is answered within that time, whatever the storage does. */
const ANSWERED_MS = 40_000;

const hasDisk = !isMissing('a bucket that is full', await reasonAgainstMounts());

let storage: S3Gateway;
let front: Front;
/** What the service has warned of. */
const lines: string[] = [];
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  storage = await startS3Gateway('files', hasDisk ? { diskBytes: DISK_BYTES } : {});
  front = await standBefore(storage.url);
  const destination = {
    write(line: string) {
      mailbox.write(line);
      // A busy machine has other lines, of this process standing still.
      if (/"level":[45]0/.test(line) && !line.includes('stood_still_ms')) lines.push(line);
    },
  };
  service = await startTestService({
    // A step of a workspace that fails once has failed for good.
    env: { ...storage.settings, FILES_S3_ENDPOINT: front.url, PROVISIONER_ATTEMPTS: '1' },
    log: createLog({ level: 'info', pretty: false, destination }),
  });
  tenant = await service.tenant('acc_acme');
}, BUILD_MS);
afterEach(() => {
  front.before = () => {};
  storage.thaw();
});
afterAll(async () => {
  await service?.close();
  front?.shut();
  await storage?.close();
});

interface Fault {
  begin(): unknown;
  end(): unknown;
  /** Operators read this. */
  said: string;
}

const FAULTS: Record<string, Fault> = {
  stopped: {
    async begin() {
      front.shut();
      await storage.stop();
    },
    async end() {
      await storage.start();
      await front.open();
    },
    said: 'cannot be reached',
  },
  frozen: { begin: () => storage.freeze(), end: () => storage.thaw(), said: 'did not answer within 3 s' },
  'without its bucket': {
    begin: () => storage.takeBucketAway(),
    end: () => storage.giveBucketBack(),
    said: 'the bucket does not exist',
  },
  'closed to the credential': {
    begin: () => storage.stop().then(() => storage.start('another secret')),
    end: () => storage.stop().then(() => storage.start()),
    said: 'the bucket refuses the credential',
  },
  ...(hasDisk && {
    full: { begin: () => storage.disk?.leave(0), end: () => storage.disk?.makeRoom(), said: 'the bucket is full' },
  }),
};

const fileOf = (...texts: string[]): FormData => {
  const form = new FormData();
  for (const [n, text] of texts.entries()) form.append('files', new Blob([text]), `facts-${n}.txt`);
  return form;
};
const newThread = async (): Promise<string> =>
  (await tenant.cp('POST', '/v1/chat/threads', { agent: 'assistant' })).body.id;
const upload = (thread: string, ...texts: string[]) =>
  tenant.cp('POST', `/v1/chat/threads/${thread}/attachments`, fileOf(...texts));
const filesOf = async (thread: string) => (await tenant.cp('GET', `/v1/chat/threads/${thread}/attachments`)).body.data;
const discarded = () =>
  service.runtime.db.rows<{ key: string; isDeleted: boolean }>(
    sql`select key, deleted_at is not null as "isDeleted" from discarded_files`,
  );
const healthOfFiles = async () => {
  const { body } = await tenant.cp('GET', '/v1/system/health');
  return body.parts.find(({ name }: { name: string }) => name === 'files');
};

async function timed<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  expect(performance.now() - startedAt).toBeLessThan(ANSWERED_MS);
  return result;
}

const unavailable = (answer: { status: number; headers: Headers; body: unknown }) =>
  expect({ ...answer, headers: answer.headers.get('retry-after') }).toEqual({
    status: 503,
    headers: '5',
    body: { detail: 'storage_unavailable' },
  });

describe.each(Object.keys(FAULTS))('storage that is %s', (name) => {
  const { begin, end, said } = present(FAULTS[name]);

  // Guards: a caller is told in time, by name, and nothing of a refused upload stays, in the record or in the storage.
  test('takes nothing, gives nothing, and leaves nothing', async () => {
    const [thread, before] = [await newThread(), await newThread()];
    const { body: kept } = await upload(before, 'The sky is green.');
    const picture = new FormData();
    picture.append('file', new Blob([PIXEL]), 'me.png');
    const keys = await storage.keys();
    await begin();
    try {
      lines.length = 0;
      unavailable(await timed(() => upload(thread, 'one', 'two', 'three')));
      const told = name === 'frozen' ? 'does not answer' : said;
      expect(lines).toEqual([expect.stringMatching(`FILES_S3_BUCKET files: ${told}.*request not served`)]);
      unavailable(await timed(() => tenant.cp('PUT', '/v1/agents/assistant/avatar', picture)));
      if (name !== 'full') {
        unavailable(await timed(() => tenant.cp('GET', `/v1/files/download?id=${kept.data[0].id}`)));
      }
      expect(await healthOfFiles()).toMatchObject({ status: 'down', detail: said });
    } finally {
      await end();
    }
    expect(await filesOf(thread)).toEqual([]);
    await eventually(async () => expect((await healthOfFiles()).status).toBe('ok'));
    expect((await upload(thread, 'four')).status).toBe(201);
    expect(await filesOf(thread)).toHaveLength(1);
    await eventually(async () => {
      await service.runtime.db.rows(sql`update discarded_files set due_at = now()`);
      await service.services.sweepDiscarded(UNHURRIED);
      expect(await discarded()).toEqual([]);
    });
    expect(await storage.keys()).toHaveLength(keys.length + 1);
  });

  // Guards: an agent gets the file when the storage is back; a model that is told of a failure would go on without it.
  test('has agents wait for it', async () => {
    const thread = await newThread();
    const { body } = await upload(thread, 'The sky is green on Tuesdays.');
    await begin();
    let runId = '';
    try {
      const calls = [
        ...(name === 'full' ? [] : ['[[tool:read_attachment {"filename":"facts-0.txt"}]]']),
        '[[tool:save_artifact {"filename":"sky.txt","content":"The sky is blue."}]]',
      ];
      const ids = { attachment_ids: [body.data[0].id] };
      const said = await tenant.cp('POST', `/v1/chat/threads/${thread}/messages`, { content: calls.join(' '), ...ids });
      runId = said.body.run_id;
      await eventually(async () => expect(await waitsOf(runId)).toHaveLength(calls.length));
      expect((await tenant.api('GET', `/v1/runs/${runId}`)).body.status).toBe('running');
    } finally {
      await end();
    }
    const { status, output } = await tenant.waitForRun(runId);
    expect(status).toBe('succeeded');
    if (name !== 'full') expect(output).toContain('The sky is green on Tuesdays.');
    expect(await callsOf(runId)).not.toContain('failed');
  });
});

// Guards: bytes that the storage was given before it froze, and stores when nobody waits for them any more.
test('a file that arrives late is discarded', async () => {
  const thread = await newThread();
  const before = await storage.keys();
  front.before = (method) => method === 'PUT' && storage.freeze();
  unavailable(await timed(() => upload(thread, 'late')));
  expect(await discarded()).toEqual([{ key: expect.stringMatching(/^attachments\/acme\//), isDeleted: false }]);
  // It is away for the chore as well, which does not fail.
  await service.services.sweepDiscarded(UNHURRIED);
  storage.thaw();
  await eventually(async () => expect(await storage.keys()).toHaveLength(before.length + 1));
  // The service's own housekeeping may come between.
  const sweep = () => service.services.sweepDiscarded(UNHURRIED);
  await service.runtime.db.rows(sql`update discarded_files set due_at = now()`);
  await sweep();
  expect(await storage.keys()).toEqual(before);
  expect(await discarded()).toMatchObject([{ isDeleted: true }]);
  await service.runtime.db.rows(
    sql`update discarded_files set due_at = now(), deleted_at = deleted_at - interval '2 minutes'`,
  );
  await sweep();
  expect(await discarded()).toEqual([]);
  expect(await filesOf(thread)).toEqual([]);
});

// Guards against: a caller who waits for each of the files in turn to be looked at.
test('files that were stored are kept, and not looked at', async () => {
  const thread = await newThread();
  front.before = (method) => method === 'GET' && storage.freeze();
  const answer = await timed(() => upload(thread, 'one', 'two', 'three', 'four', 'five'));
  expect([answer.status, answer.body.meta.total, answer.body.data[0].reading]).toEqual([201, 5, null]);
});

// Guards: an archive is made when the storage is back, and one that is removed meanwhile leaves nothing.
test('an export waits for the storage', async () => {
  const path = '/v1/workspaces/acc_acme/exports';
  storage.freeze();
  const { body } = await confirmed(tenant, 'POST', path);
  const folder = await eventually(() => triedIn(body.id));
  // The first try has failed, and the next one has begun.
  await eventually(async () => expect(await triedIn(body.id)).not.toBe(folder));
  const { raw } = await handleOf(`${service.runtime.config.TASK_QUEUE_PREFIX}export-${body.id}`).describe();
  expect(raw.pendingActivities?.map(({ attempt }) => attempt)).toEqual([1]);
  storage.thaw();
  await eventually(async () => {
    expect((await tenant.cp('GET', `${path}/${body.id}`)).body).toMatchObject({ status: 'ready', error_code: null });
  });
  storage.freeze();
  expect((await timed(() => tenant.cp('DELETE', `${path}/${body.id}`))).body).toMatchObject({ status: 'removed' });
  storage.thaw();
  await service.services.sweepDiscarded(UNHURRIED);
  expect((await storage.keys()).filter((key) => key.startsWith('exports/'))).toEqual([]);
});

// Guards against: a workspace whose destruction has failed, and has to be asked for again, because of an outage.
test('a workspace is taken down when the storage is back', async () => {
  const other = await service.tenant('acc_other');
  const { body: thread } = await other.cp('POST', '/v1/chat/threads', { agent: 'assistant' });
  await other.cp('POST', `/v1/chat/threads/${thread.id}/attachments`, fileOf('one'));
  const keysOfOther = async () => (await storage.keys()).filter((key) => key.includes('/other/'));
  expect(await keysOfOther()).not.toEqual([]);
  storage.freeze();
  let asked = 0;
  front.before = () => (asked += 1);
  const answered = askAs(service, other.caller)('DELETE', '/acc_other');
  await eventually(() => expect(asked).toBeGreaterThan(1));
  storage.thaw();
  expect(await answered).toMatchObject({ status: 200, body: { status: 'archived' } });
  expect(await keysOfOther()).toEqual([]);
});

/** The smallest PNG. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const handleOf = (id: string) => service.runtime.temporal.client.workflow.getHandle(id);

/** The timers of a run that it waits for the storage with. */
async function waitsOf(runId: string): Promise<unknown[]> {
  const { events } = await handleOf(runWorkflowId(runId)).fetchHistory();
  return (events ?? []).filter(
    ({ timerStartedEventAttributes: timer, userMetadata }) =>
      timer && Buffer.from(userMetadata?.summary?.data ?? []).toString() === '"file storage"',
  );
}

async function triedIn(exportId: string): Promise<string> {
  const rows = await service.runtime.db.rows<{ folder: string | null }>(
    sql`select folder from workspace_exports where id = ${exportId}`,
  );
  return present(first(rows).folder);
}

const callsOf = async (runId: string): Promise<string[]> => {
  const rows = await service.runtime.db.rows<{ status: string }>(
    sql`select status from run_tool_calls where run_id = ${runId}`,
  );
  return rows.map(({ status }) => status);
};
