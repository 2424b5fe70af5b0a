/** Reference files of projects and the download of files, through the whole service; no project has to run for it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { newRunId, newUuid } from '../../../src/platform/core/ids.ts';
import type { ProjectStatus } from '../../../src/resources/projects/model.ts';
import { withdrawProject } from '../../../src/resources/projects/store/create.ts';
import { attachmentName } from '../../../src/resources/attachments/model.ts';
import { pdfOf, streamOf } from '../../support/documents/pdf.ts';
import { docxOf, paragraph } from '../../support/documents/zip.ts';
import { insertProject } from '../../support/fixtures/projects-store.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const NOT_FOUND = { status: 404, body: { detail: 'not_found' } };
const MB = 1024 * 1024;

let folder: string;
let service: TestService;
let acme: Tenant;
let other: Tenant;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attachments-'));
  service = await startTestService({ worker: false, env: { DATA_DIR: folder } });
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

type Part = [filename: string, content: string | Uint8Array<ArrayBuffer>];
const form = (...parts: Part[]) => {
  const data = new FormData();
  for (const [filename, content] of parts) data.append('files', new Blob([content]), filename);
  return data;
};
const project = async (status: ProjectStatus = 'active', { caller: { customerId } } = acme) =>
  (await insertProject(service.runtime.db, { id: `project-${newUuid()}`, customerId, status, phases: [] })).id;
const upload = (projectId: string, body: FormData, tenant = acme) =>
  tenant.cp('POST', `/v1/projects/${projectId}/attachments`, body);
const list = (projectId: string, tenant = acme) => tenant.cp('GET', `/v1/projects/${projectId}/attachments`);
const download = (id: string, tenant = acme) => tenant.cp('GET', `/v1/files/download?id=${encodeURIComponent(id)}`);
const stored = (): Promise<string[]> => readdir(join(folder, 'files', 'attachments', 'acme')).catch(() => []);
const countRows = async () => (await service.runtime.db.rows(sql`select id from attachments`)).length;

// Guards: attachments.upload, attachments.list and files.download agree on what was uploaded, whatever its name.
test('keeps files beside a project', async () => {
  const id = await project();
  const text = 'Zeile ä\n'.repeat(20_000);
  const made = await upload(id, form(['Über 🪁.md', text], ['empty.txt', ''], ['data.csv', 'a,b']));
  expect(made.status).toBe(201);
  const row = (filename: string, content_type: string, content: string, reading: unknown) => ({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    filename,
    content_type,
    size_bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
    reading,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const textOf = (summary: string) => ({
    kind: 'text',
    readable: true,
    unit: null,
    count: null,
    problem: null,
    summary,
  });
  expect(made.body).toEqual({
    data: [
      row('Über 🪁.md', 'text/markdown', text, textOf('text of 160,000 characters')),
      row('empty.txt', 'text/plain', '', {
        kind: null,
        readable: false,
        unit: null,
        count: null,
        problem: 'empty',
        summary: 'cannot be read: it is empty',
      }),
      row('data.csv', 'text/csv', 'a,b', { ...textOf('table (CSV) of 3 characters'), kind: 'csv' }),
    ],
    meta: { total: 3 },
  });

  const more = await upload(id, form(['data.csv', 'c,d']));
  expect(more.body).toMatchObject({ data: [{ filename: 'data.csv', size_bytes: 3 }], meta: { total: 1 } });
  expect(await list(id)).toMatchObject({
    status: 200,
    body: { data: [...made.body.data, ...more.body.data], meta: { total: 4 } },
  });
  expect((await list(await project())).body).toEqual({ data: [], meta: { total: 0 } });

  const [first, second] = made.body.data;
  expect(await download(first.id)).toMatchObject({ status: 200, body: text });
  expect(await download(second.id)).toMatchObject({ status: 200, body: '' });
});

// Guards against: an uploaded or saved page that a browser would run on this origin.
test('serves pages as text to be saved', async () => {
  const html = '<!doctype html><script>alert(document.domain)</script>';
  const { body } = await upload(await project(), form(['page "1".html', html]));
  const { db } = service.runtime;
  const runId = newRunId();
  await db.rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt) values (${runId}, 'acme', 'writer', 'rest', 'Write.')`);
  const artifactId = newUuid();
  await service.services.files.put(`runs/acme/${runId}/call`, Buffer.from(html), 'text/html');
  await db.rows(sql`
    insert into run_artifacts (id, customer_id, run_id, call_id, filename, content_type, size_bytes, sha256, file_key)
    values (${artifactId}::uuid, 'acme', ${runId}, 'call', 'page.html', 'text/html', ${html.length}, 'x',
      ${`runs/acme/${runId}/call`})`);
  for (const id of [body.data[0].id, artifactId]) {
    const reply = await download(id);
    expect(reply).toMatchObject({ status: 200, body: html });
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; filename=.*page.*\.html/),
      'x-content-type-options': 'nosniff',
    });
    expect(await download(id, other)).toMatchObject(NOT_FOUND);
  }
  for (const id of [newUuid(), 'no-uuid', '../acme/secret', '']) expect(await download(id)).toMatchObject(NOT_FOUND);
  expect((await acme.cp('GET', '/v1/files/download')).status).toBe(422);
});

// Guards: an unknown project has no attachments and takes none, and neither does an abandoned one.
test('refuses projects that take no files', async () => {
  const before = await stored();
  const theirs = await project('active', other);
  for (const id of [theirs, 'no-project-000000']) {
    // Answered although most of it is still on its way.
    expect(await upload(id, form(['a.txt', new Uint8Array(20 * MB)]))).toMatchObject(NOT_FOUND);
    expect(await list(id)).toMatchObject(NOT_FOUND);
  }
  expect(await list('%00')).toMatchObject({ status: 400 });
  const over = await project('abandoned');
  expect(await upload(over, form(['a.txt', 'a']))).toMatchObject({
    status: 409,
    body: { detail: 'the project has been abandoned' },
  });
  expect(await list(over)).toMatchObject({ status: 200, body: { data: [] } });
  expect(await stored()).toEqual(before);
  expect((await upload(await project('completed'), form(['a.txt', 'a']))).status).toBe(201);
});

// Guards: an upload counts whole or not at all, and a failed one leaves nothing in storage.
test('keeps all files of an upload or none', async () => {
  const id = await project();
  const before = { files: await stored(), rows: await countRows() };
  const tooLarge = { status: 413, body: { detail: 'payload_too_large' } };
  const small: Part[] = Array.from({ length: 11 }, (_, i) => [`${i}.txt`, 'x']);
  const half = new Uint8Array(13 * MB);
  expect(await upload(id, form(...small))).toMatchObject(tooLarge);
  expect(await upload(id, form(['a', half], ['b', half]))).toMatchObject(tooLarge);

  const wrong = form(['a.txt', 'a']);
  wrong.append('file', new Blob(['b']), 'b.txt');
  expect(await upload(id, wrong)).toMatchObject({ status: 400 });
  expect(await upload(id, form())).toMatchObject({ status: 400 });
  expect(await acme.cp('POST', `/v1/projects/${id}/attachments`, {})).toMatchObject({ status: 400 });
  expect({ files: await stored(), rows: await countRows() }).toEqual(before);

  expect((await upload(id, form(...small.slice(1)))).body.meta).toEqual({ total: 10 });
});

// Guards: an upload without a length is measured while it streams, and stops counting at the limit.
test('measures what does not say its length', async () => {
  const before = await stored();
  const chunks = async function* () {
    yield Buffer.from('--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\n');
    for (let sent = 0; sent < 40; sent++) yield Buffer.alloc(MB, 'a');
    yield Buffer.from('\r\n--x--\r\n');
  };
  const response = await fetch(`${service.baseUrl}/api/v1/cp/v1/projects/${await project()}/attachments`, {
    method: 'POST',
    headers: { cookie: `service_session=${acme.session}`, 'content-type': 'multipart/form-data; boundary=x' },
    body: ReadableStream.from(chunks()) as never,
    duplex: 'half',
  });
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 413,
    body: { detail: 'payload_too_large' },
  });
  expect(await stored()).toEqual(before);
});

// Guards: a client that goes away in the middle, through the browser proxy too, leaves neither rows nor bytes.
test('forgets an upload that breaks off', async () => {
  const before = { files: (await stored()).length, rows: await countRows() };
  const path = `/api/v1/cp/v1/projects/${await project()}/attachments`;
  const part = (name: string) => `--x\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
  const socket = connect(Number(new URL(service.baseUrl).port), 'localhost');
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: service_session=${acme.session}\r\ncontent-length: 900000\r\n` +
      `content-type: multipart/form-data; boundary=x\r\n\r\n${part('a')}whole\r\n${part('b')}${'half'.repeat(10_000)}`,
  );
  await eventually(async () => expect((await stored()).length).toBeGreaterThan(before.files + 1));
  socket.destroy();
  await eventually(async () => expect({ files: (await stored()).length, rows: await countRows() }).toEqual(before));
});

// Guards: a file name is shown and saved without a path and without hidden characters.
test.each([
  ['../../etc/passwd', 'passwd'],
  ['C:\\temp\\a.txt', 'a.txt'],
  ['a\u0000\r\n\u007fb.md', 'ab.md'],
  ['evil\u202Efdp.exe', 'evilfdp.exe'],
  ['..', 'file'],
  ['dir/', 'file'],
  ['.env', '.env'],
  ['👩‍🚀.png', '👩‍🚀.png'],
  ['\ud83d.txt', '\ufffd.txt'],
])('%j is named %j', (given, name) => {
  expect(attachmentName(given)).toBe(name);
});

// Guards: a long name keeps its end, and whole characters.
test('long names', () => {
  expect(attachmentName(`${'n'.repeat(300)}.md`)).toBe(`${'n'.repeat(197)}.md`);
  expect(attachmentName(`${'🪁'.repeat(150)}.md`)).toBe(`${'🪁'.repeat(98)}.md`);
  expect(attachmentName('n'.repeat(300))).toBe('n'.repeat(200));
});

describe('files that are there before their project starts', () => {
  const prepare = async (name: string, tenant = acme): Promise<string> => {
    const { status, body } = await tenant.cp('POST', '/v1/files/upload', form([name, name]));
    expect(status).toBe(201);
    return body.data[0].id;
  };
  const start = (attachment_ids: string[], more = {}) =>
    acme.cp('POST', '/v1/projects', {
      workflow_slug: 'blog-post',
      title: 'Bread',
      brief: 'Why bread is sour',
      attachment_ids,
      ...more,
    });

  // Guards: a project has its files from its first step on, in the transaction that makes it; a file has one project.
  test('are beside the project that is made with them, and beside no other', async () => {
    const [first, second] = [await prepare('recipe.txt'), await prepare('oven.txt')];
    const made = await start([first, second, first]);
    expect(made.status).toBe(201);
    const { body } = await list(made.body.id);
    expect(body.data.map(({ filename }: { filename: string }) => filename)).toEqual(['recipe.txt', 'oven.txt']);
    const again = await start([first]);
    expect(again).toMatchObject({ status: 400, body: { detail: expect.stringContaining(first) } });
  });

  // Guards: all of them or none, and of the own workspace alone; a project that is refused takes none.
  test('stay for another try where the project is refused', async () => {
    const [mine, theirs] = [await prepare('mine.txt'), await prepare('theirs.txt', other)];
    expect((await start([mine, theirs])).status).toBe(400);
    expect((await start([mine, newUuid()])).status).toBe(400);
    expect((await start([mine], { workflow_slug: 'no-such' })).status).toBe(400);
    expect((await start(['no-id'])).status).toBe(400);
    expect((await start([mine])).status).toBe(201);
  });

  // Guards: where Temporal is away the project is withdrawn, and its files serve for the next try.
  test('serve again after a project was withdrawn', async () => {
    const id = await prepare('again.txt');
    const made = await start([id]);
    await service.runtime.db.rows(sql`update projects set status = 'planning' where id = ${made.body.id}`);
    expect(await withdrawProject(service.runtime.db, 'acme', made.body.id)).toBe(true);
    expect((await start([id])).status).toBe(201);
  });

  // Guards against: uploads that nobody came back for, which would be kept for ever.
  test('are forgotten after a day', async () => {
    const id = await prepare('late.txt');
    await service.runtime.db.rows(sql`
      update attachments set created_at = now() - interval '25 hours' where id = ${id}::uuid`);
    const before = (await stored()).length;
    expect((await start([id])).status).toBe(400);
    await prepare('fresh.txt');
    expect(await download(id)).toMatchObject(NOT_FOUND);
    expect((await stored()).length).toBe(before);
  });
});

// Guards: files of one workspace that take long to be looked at hold up no upload of another.
test('workspaces take turns', async () => {
  const packed = deflateSync(Buffer.alloc(80_000_000, 'q Q ')).toString('latin1');
  const slow = new Uint8Array(
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
      streamOf(packed, '/Filter /FlateDecode'),
    ]),
  );
  const [mine, theirs] = [await project(), await project('active', other)];
  const ended: string[] = [];
  const many = Array.from({ length: 8 }, () => upload(mine, form(['slow.pdf', slow])).then(() => ended.push('slow')));
  const made = await upload(theirs, form(['quick.docx', new Uint8Array(docxOf(paragraph('Hello')))]), other);
  expect(made.body.data[0].reading).toMatchObject({ kind: 'docx' });
  expect(ended).toEqual([]);
  await Promise.all(many);
});
