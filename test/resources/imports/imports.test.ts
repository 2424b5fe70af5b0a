/** What one deployment has, brought into another one, and beside itself: whole, once, and nothing of anybody else. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { partKey } from '../../../src/platform/files/parts.ts';
import { importFolder } from '../../../src/resources/imports/model.ts';
import { archiveOf, rowsOf } from '../../support/archives/make.ts';
import { linesIn, unpack } from '../../support/archives/unpack.ts';
import { dumpRecords } from '../../support/database/dump-tables.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { makeBelongings, makeExport, type Belongings } from '../../support/fixtures/belongings.ts';
import {
  sessionFor,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { download } from '../exports/download.ts';
import { announce, bring, sendPart } from './bring.ts';

const MARK = 'mark-of-source';

let source: TestService;
let other: TestService;
let receiver: WebhookReceiver;
let ours: Tenant;
let target: Tenant;
let belongings: Belongings;
let archive: Buffer;

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
  const env = { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort };
  [source, other] = [await startTestService({ env }), await startTestService({ env })];
  ours = await source.tenant('acc_source');
  target = await other.tenant('acc_target');
  belongings = await makeBelongings(source, ours, receiver, MARK);
  archive = await download(source, ours, await makeExport(ours));
});
afterAll(async () => {
  await source?.close();
  await other?.close();
  await receiver?.close();
});

const rowsIn = async ({ runtime }: TestService, customerId: string) =>
  (await dumpRecords(runtime.db)).filter((row) => row.includes(`"customer_id": "${customerId}"`));
/** Of runs, and of everything that has a UUID. */
const idsOf = (rows: readonly string[]): string[] =>
  rows.flatMap(
    (row) => row.match(/(?<=")([0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=")/g) ?? [],
  );
const ofTable = (rows: readonly string[], table: string) => rows.filter((row) => row.startsWith(`public.${table} `));

// Guards: everything that can be brought is there, under its ids, and can be read as what it was.
test('a workspace is brought into another deployment', async () => {
  const done = await bring(target, archive);
  expect(done).toMatchObject({ status: 'done', source: 'acc_source', new_ids: false, error_code: null });
  const { runId, threadId, projectId, taskId, subtaskId, runArtifactId, attachmentId, agentSlug, templateSlug } =
    belongings;
  const read = async (path: string) => {
    const { status, body } = await target.cp('GET', path);
    expect({ path, status }).toEqual({ path, status: 200 });
    return body;
  };
  expect(await read(`/v1/runs/${runId}/detail`)).toMatchObject({ status: 'succeeded' });
  expect((await read(`/v1/chat/threads/${threadId}`)).title).toBe(`${MARK} thread`);
  expect((await read(`/v1/runs/${runId}/transcript`)).data.length).toBeGreaterThan(1);
  const { body: events } = await ours.cp('GET', `/v1/runs/${runId}/events`);
  expect((await read(`/v1/runs/${runId}/events`)).data.length).toBe(events.data.length);
  // It waited for a person: nothing of it works on.
  expect(await read(`/v1/projects/${projectId}`)).toMatchObject({ status: 'abandoned', title: `${MARK} project` });
  expect(await read(`/v1/projects/${projectId}/tasks/${taskId}/subtasks/${subtaskId}`)).toMatchObject({
    status: 'failed',
  });
  expect((await read(`/v1/projects/${projectId}/artifacts`)).data.length).toBeGreaterThan(0);
  expect(await read(`/v1/files/download?id=${runArtifactId}`)).toBe(`${MARK} content`);
  expect(await read(`/v1/files/download?id=${attachmentId}`)).toBe(`${MARK} attached`);
  expect(await read(`/v1/agents/${agentSlug}/detail`)).toMatchObject({ slug: agentSlug });
  expect(await read(`/v1/workflows/${templateSlug}`)).toMatchObject({ slug: templateSlug });
  const { data: jobs } = await read('/v1/scheduled-jobs');
  expect(jobs).toContainEqual(expect.objectContaining({ name: `${MARK} job`, enabled: false }));
  const { data: found } = await read('/v1/memory/entries?limit=50');
  expect(found).toContainEqual(expect.objectContaining({ slug: `${MARK}-entry` }));
  expect((await read(`/v1/search?q=${runId}`)).data.length).toBeGreaterThan(0);
});

// Guards: what is not brought is named (`imports.get`), with what is to be done.
test('what cannot be brought is listed', async () => {
  const { data } = (await target.cp('GET', '/v1/workspaces/acc_target/imports')).body;
  const { result, not_brought: left } = data[0];
  expect(result.refused).toContainEqual({
    what: expect.stringContaining('webhook'),
    why: expect.stringContaining('signing secret'),
  });
  expect(result.refused).toContainEqual({
    what: `destination ${MARK} destination`,
    why: expect.stringContaining('the environment has no'),
  });
  expect(result.ended).toBeGreaterThan(0);
  expect(left).toMatchObject({ api_keys: 'secrets are made again', audit_log: expect.any(String) });
});

// Guards: an import that is repeated, from the beginning too, brings nothing twice.
test('importing twice brings nothing twice', async () => {
  const before = await rowsIn(other, 'target');
  const again = await bring(target, archive);
  expect(again).toMatchObject({ status: 'done', result: { brought: { files: expect.any(Number) } } });
  expect(Object.keys(again.result.brought)).toEqual(['files']);
  const after = await rowsIn(other, 'target');
  const beside = /^public\.(workspace_imports|otp_|audit_log|log_events)/;
  expect(after.filter((row) => !beside.test(row)).sort()).toEqual(before.filter((row) => !beside.test(row)).sort());
});

// Guards: beside the workspace that it is of, what is brought has ids of its own, and that one stays as it is.
test('a copy in the same deployment has other ids', async () => {
  const copy = await source.tenant('acc_copy');
  const before = await rowsIn(source, 'source');
  const first = await bring(copy, archive);
  expect(first).toMatchObject({ status: 'done', new_ids: true });
  expect(await rowsIn(source, 'source')).toEqual(before);
  const { data: runs } = (await copy.cp('GET', '/v1/runs')).body;
  const { data: theirs } = (await ours.cp('GET', '/v1/runs')).body;
  expect(runs).toHaveLength(theirs.length);
  const ids = new Set(theirs.map(({ run_id: id }: { run_id: string }) => id));
  for (const { run_id: id } of runs) expect(ids.has(id)).toBe(false);
  const rows = await rowsIn(source, 'copy');
  expect(ofTable(rows, 'run_tool_calls').length).toBe(ofTable(before, 'run_tool_calls').length);
  expect(ofTable(rows, 'attempts').length).toBe(ofTable(before, 'attempts').length);
  // Nothing that was brought names what stayed behind, but in what people and models have said.
  const stayed = [belongings.projectId, ...idsOf(before)];
  const apart = /^public\.(workspace_imports|run_messages|run_tool_calls|memory_entries|search_documents) /;
  const naming = rows.filter((row) => !apart.test(row) && stayed.some((id) => row.includes(`"${id}"`)));
  expect(naming).toEqual([]);
  // As a release left them that did not renew these; nothing comes twice because of it.
  const old = { artifact_id: belongings.subtaskId, run_id: belongings.runId };
  await source.runtime.db.rows(sql`
    update project_events set payload = payload || ${JSON.stringify(old)}::jsonb where customer_id = 'copy' and payload ?| '{artifact_id,run_id}'`);
  const again = await bring(copy, archive);
  expect(Object.keys(again.result.brought)).toEqual(['files']);
});

// Guards: an import that is broken off at any place goes on to the end, and nothing of it is there twice.
test('an import that is broken off goes on', async () => {
  const broken = await other.tenant('acc_broken');
  const { store } = other.services.bringing;
  const note = store.recordBrought;
  let notes = 0;
  store.recordBrought = async (...given) => {
    notes += 1;
    if ([5, 12].includes(notes)) throw new Error('the worker is gone');
    return note(...given);
  };
  try {
    expect(await bring(broken, archive)).toMatchObject({ status: 'done' });
  } finally {
    store.recordBrought = note;
  }
  const [whole, pieces] = [await rowsIn(other, 'target'), await rowsIn(other, 'broken')];
  for (const table of ['runs', 'run_events', 'project_events', 'subtasks', 'attachments', 'memory_entries']) {
    // The other deployment has what the target has: its own ids are taken, so here they are others.
    expect({ table, rows: ofTable(pieces, table).length }).toEqual({ table, rows: ofTable(whole, table).length });
  }
});

// Guards: an archive reaches into no workspace but the one that it is brought into.
test('a row that belongs to somebody else is refused', async () => {
  const foreign = await other.tenant('acc_foreign');
  const { run_id: runId } = await foreign.run({ prompt: 'Mine.' });
  const before = await rowsIn(other, 'foreign');
  const [event] = linesIn(await unpack(archive), 'rows/run_events');
  const [message] = linesIn(await unpack(archive), 'rows/run_messages');
  const hostile = await archiveOf([
    rowsOf('run_messages', [{ ...message, run_id: runId, turn: 99 }]),
    rowsOf('run_events', [
      { ...event, run_id: runId, key: 'forged' },
      { ...event, customer_id: 'foreign' },
    ]),
  ]);
  const done = await bring(target, hostile);
  expect(done).toMatchObject({ status: 'done', result: { brought: {} } });
  expect(done.result.refused).toEqual([
    { what: 'a row of run_messages', why: 'what it belongs to is not in the workspace' },
    { what: 'a row of run_events', why: 'has a field that run_events has not: customer_id' },
    { what: 'a row of run_events', why: 'what it belongs to is not in the workspace' },
  ]);
  expect(await rowsIn(other, 'foreign')).toEqual(before);
});

// Guards: of an archive that is not whole nothing is brought, and its sender is told what is wrong with it.
test('a damaged archive is refused before anything of it is brought', async () => {
  const spoiled = Buffer.from(archive);
  spoiled.writeUInt8(spoiled.readUInt8(1_000) ^ 255, 1_000);
  const before = await rowsIn(other, 'target');
  expect(await bring(target, spoiled)).toMatchObject({ status: 'failed', error_code: 'archive_damaged', result: null });
  const announced = await bring(target, spoiled, 'a'.repeat(64));
  expect(announced).toMatchObject({ error_message: 'it is not the file that was announced' });
  const after = (await rowsIn(other, 'target')).filter(
    (row) => !/^public\.(workspace_imports|otp_|audit_log)/.test(row),
  );
  expect(after).toEqual(before.filter((row) => !/^public\.(workspace_imports|otp_|audit_log)/.test(row)));
});

// Guards: an upload (`imports.sendPart`, `imports.start`, `imports.remove`) goes on where it stopped, takes nothing that was not announced, and is of an owner alone.
test('parts are taken in their order, from an owner', async () => {
  const imports = '/v1/workspaces/acc_target/imports';
  const member = tenantOf(other.baseUrl, target.caller, target.apiKey, sessionFor(target.caller, 'admin'));
  expect((await member.cp('POST', imports, { size_bytes: 1, sha256: 'a'.repeat(64) })).status).toBe(403);
  const { id } = await announce(target, archive);
  expect((await target.cp('POST', imports, { size_bytes: 1, sha256: 'a'.repeat(64) })).status).toBe(409);
  expect((await sendPart(target, id, 1, archive)).status).toBe(400);
  expect((await sendPart(target, id, 0, archive.subarray(1))).status).toBe(400);
  const early = await target.cp('POST', `${imports}/${id}/start`);
  expect([early.status, early.headers.get('x-service-problem')]).toEqual([409, 'import_not_open']);
  expect((await sendPart(target, id, 0, archive)).status).toBe(204);
  expect((await sendPart(target, id, 0, archive)).status).toBe(204);
  const removed = await target.cp('DELETE', `${imports}/${id}`);
  expect(removed.body).toMatchObject({ status: 'removed', parts: 1 });
  expect((await sendPart(target, id, 0, archive)).status).toBe(409);
});

// Guards against: a part that is stored after its import was removed, and lies there for good.
test('a part that comes while its import is removed leaves nothing', async () => {
  const imports = '/v1/workspaces/acc_target/imports';
  const { id } = await announce(target, archive);
  const { files } = other.services;
  const put = files.put;
  files.put = async (key, ...more) => {
    await target.cp('DELETE', `${imports}/${id}`);
    return put.call(files, key, ...more);
  };
  try {
    expect((await sendPart(target, id, 0, archive)).status).toBe(409);
  } finally {
    files.put = put;
  }
  const folder = importFolder({ customerId: target.caller.customerId, importId: id });
  await expect(files.get(partKey(folder, 0))).rejects.toThrow('no file');
});

// Guards: housekeeping goes on with what was accepted, and forgets an upload that nobody finishes.
test('housekeeping begins what was not begun, and gives up what was never sent', async () => {
  const { id } = await announce(target, archive);
  const { store } = other.services.bringing;
  const { db } = other.runtime;
  await db.rows(sql`update workspace_imports set due_at = now() - interval '1 hour' where id = ${id}`);
  await other.services.imports.startLost(new AbortController().signal);
  expect(await store.find({ customerId: 'target', importId: id })).toMatchObject({ status: 'removed' });
});
