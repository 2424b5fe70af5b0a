/** Files streamed to storage, over real HTTP: what is said of them, limits, and that nothing refused stays behind. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { present } from '../../../src/platform/core/present.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createFileStore, type FileStore } from '../../../src/platform/files/files.ts';
import { endpoint, handle, type Endpoint, type ReceivedFile } from '../../../src/platform/http/endpoint.ts';
import { openApiDocument } from '../../../src/platform/http/openapi.ts';
import { eventually } from '../../support/service/service.ts';
import { KEY, serve } from './serve.ts';

const LIMITS = { field: 'files', maxFiles: 3, maxBytes: 200_000 };

let folder: string;
let files: FileStore;
/** What the handler does before it asks for the files. */
let look: () => Promise<void>;
/** What came of asking. */
let received: Promise<unknown> | undefined;
/** What the handler does with the files. */
let keep: (all: readonly ReceivedFile[]) => Promise<unknown>;
let keys = 0;

const attach = endpoint({
  id: 'kites.attach',
  surface: 'public',
  credential: 'api-key',
  summary: 'Test',
  method: 'post',
  path: '/v1/kites',
  uploads: LIMITS,
  status: 201,
  reply: z.object({ seen: z.unknown() }),
});
const served = serve([
  handle(attach, async ({ receiveFiles }) => {
    await look();
    received = receiveFiles({ files, newKey: () => `kites/${++keys}` }, (all) => keep(all));
    return { seen: await received };
  }),
]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'uploads-'));
  files = createFileStore({ DATA_DIR: folder, FILES_S3_REGION: 'us-east-1' });
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  await rm(join(folder, 'files'), { recursive: true, force: true });
  look = async () => {};
  received = undefined;
  keep = async (all) => all;
});

const stored = (): Promise<string[]> => readdir(join(folder, 'files', 'kites')).catch(() => []);
const form = (...parts: [name: string, content: string | Uint8Array<ArrayBuffer>, filename?: string][]) => {
  const data = new FormData();
  for (const [name, content, filename = 'kite.txt'] of parts) data.append(name, new Blob([content]), filename);
  return data;
};
const post = (body: string | FormData, type?: string) =>
  served.call('POST', '/v1/kites', { body, ...(type && { type }) });

// Guards: each file is stored byte for byte, with its size and hash, under a key that the caller did not choose.
test('receives files', async () => {
  const large = 'ä'.repeat(60_000);
  const { status, body } = await post(form(['files', ''], ['files', large, '../Drache-ä 🪁.md'], ['files', 'b']));
  expect(status).toBe(201);
  expect(body.seen).toEqual(
    [
      ['', 'kite.txt', 'text/plain'],
      [large, expect.stringContaining('Drache-ä 🪁.md'), 'text/markdown'],
      ['b', 'kite.txt', 'text/plain'],
    ].map(([text, filename, contentType]) => ({
      key: expect.stringMatching(/^kites\/\d+$/),
      filename,
      contentType,
      sizeBytes: Buffer.byteLength(text as string),
      sha256: createHash('sha256')
        .update(text as string)
        .digest('hex'),
    })),
  );
  expect((await files.get(body.seen[1].key)).toString()).toBe(large);
  expect((await files.get(body.seen[0].key)).length).toBe(0);
});

// Guards: the type comes from the content; anything that a browser would run is stored as text or unknown bytes.
test.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
  ['notes.txt', 'BMW builds cars', 'text/plain'],
  ['table.CSV', 'a,b', 'text/csv'],
  ['data.json', '{}', 'application/json'],
  ['page.html', '<!doctype html><script>alert(1)</script>', 'text/plain'],
  ['logo.svg', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', 'text/plain'],
  ['a.constructor', 'text', 'text/plain'],
  ['lies.txt', new Uint8Array(Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64')), 'image/png'],
  ['ascii.txt', '%PDF-1.4\n%EOF\n', 'application/pdf'],
  ['nul.txt', 'a\0b', 'application/octet-stream'],
  ['latin.txt', new Uint8Array([0x63, 0x61, 0x66, 0xe9]), 'application/octet-stream'],
  ['cut.txt', new Uint8Array([0x63, 0xc3]), 'application/octet-stream'],
  ['wide.xml', new Uint8Array(Buffer.from('\ufeff<?xml version="1.0"?><a/>', 'utf16le')), 'application/octet-stream'],
])('%s is of the type of its content', async (name, content, contentType) => {
  const { body } = await post(form(['files', content, name]));
  expect(body.seen).toMatchObject([{ filename: name, contentType }]);
});

// Guards: limits hold over the whole request, also where it does not give its length, and nothing of a refused request
// is kept.
test('refuses what is too much', async () => {
  const tooLarge = { status: 413, body: { detail: 'payload_too_large' } };
  const half = 'x'.repeat(LIMITS.maxBytes / 2);
  expect(await post(form(['files', 'a'], ['files', 'b'], ['files', 'c'], ['files', 'd']))).toMatchObject(tooLarge);
  expect(await post(form(['files', half], ['files', `${half}y`]))).toMatchObject(tooLarge);
  expect(await stored()).toEqual([]);

  const boundary = 'kite';
  const chunks = async function* () {
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\n`);
    for (let sent = 0; sent < 40; sent++) yield Buffer.alloc(50_000, 'a');
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  const response = await fetch(`${served.base}/v1/kites`, {
    method: 'POST',
    headers: { authorization: KEY, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(chunks()) as never,
    duplex: 'half',
  });
  expect({ status: response.status, body: await response.json() }).toEqual(tooLarge);
  expect(await stored()).toEqual([]);

  expect((await post(form(['files', half], ['files', half]))).status).toBe(201);
});

// Guards: a malformed form is the caller's mistake, and costs neither memory nor files.
test('refuses what is no upload', async () => {
  const type = 'multipart/form-data; boundary=x';
  const part = '--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\ntext\r\n';
  const field = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nvalue\r\n`;
  for (const [body, contentType] of [
    [form(['files', 'a'], ['other', 'b'])],
    [form()],
    ['{}', 'application/json'],
    [part, type],
    [`${part}--x\r\nContent-Disposition: form-data; name="files"; filename="b"\r\n\r\nhalf`, type],
    [`${part}--x\r\nno colon\r\n\r\ntext\r\n--x--\r\n`, type],
    [`${part}--x\r\nX-Long: ${'h'.repeat(500_000)}\r\n\r\ntext\r\n--x--\r\n`, type],
    [`${part}${field('other').repeat(5_000)}--x--\r\n`, type],
    [`${part}${field(`a${'[b]'.repeat(100_000)}`)}--x--\r\n`, type],
    [field('files') + '--x--\r\n', type],
    ['text', 'multipart/form-data'],
  ] as const) {
    expect(await post(body, contentType)).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
    expect(await stored()).toEqual([]);
  }
  expect(served.lines).toEqual([]);
});

// Guards: a client that goes away in the middle leaves nothing behind.
test('forgets an upload that breaks off', async () => {
  const { port } = new URL(served.base);
  const socket = connect(Number(port), '127.0.0.1');
  const part = (name: string) => `--x\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
  socket.write(
    `POST /v1/kites HTTP/1.1\r\nhost: a\r\nauthorization: ${KEY}\r\ncontent-length: 150000\r\n` +
      `content-type: multipart/form-data; boundary=x\r\n\r\n` +
      `${part('a')}whole\r\n${part('b')}${'half'.repeat(10_000)}`,
  );
  await eventually(async () => expect((await stored()).length).toBeGreaterThan(1));
  socket.destroy();
  await eventually(async () => expect(await stored()).toEqual([]));
  expect((await post(form(['files', 'next']))).status).toBe(201);
});

// Guards: the service does not wait for a client that is gone before its files are read.
test('does not wait for who is gone', async () => {
  const gone = new Promise<void>((resolve) =>
    served.server.once('connection', (socket) => socket.once('close', () => resolve())),
  );
  const socket = connect(Number(new URL(served.base).port), '127.0.0.1');
  look = async () => {
    socket.destroy();
    await gone;
  };
  socket.write(
    `POST /v1/kites HTTP/1.1\r\nhost: a\r\nauthorization: ${KEY}\r\ncontent-length: 1000\r\n` +
      'content-type: multipart/form-data; boundary=x\r\n\r\n--x\r\n',
  );
  await eventually(() => expect(received).toBeDefined());
  await expect(received).rejects.toThrow('Request aborted');
});

// Guards: files whose record failed are deleted; files whose record may have succeeded are kept.
test('keeps files as their rows are', async () => {
  keep = async () => {
    throw new Problem('not_found');
  };
  expect(await post(form(['files', 'a']))).toMatchObject({ status: 404 });
  expect(await stored()).toEqual([]);

  keep = async () => {
    throw new Error('the connection broke after the commit');
  };
  expect(await post(form(['files', 'a']))).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
  expect(await stored()).toHaveLength(1);
});

// Guards: a failing storage, at once or half-way, is not blamed on the caller and does not keep the request waiting.
test.each([
  ['at once', async () => Promise.reject(new Error('the disk is full'))],
  [
    'on the way',
    async (_key: string, stream: Readable) => {
      for await (const _chunk of stream) throw new Error('the disk is full');
    },
  ],
])('tells a storage that fails %s', async (_, putStream) => {
  const working = files;
  files = { ...working, putStream };
  const reply = await post(form(['files', 'a'.repeat(150_000)], ['files', 'b']));
  files = working;
  expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
  expect(served.lines.join('\n')).toContain('the disk is full');
});

// Guards: the document tells clients where files go, how many, and how an upload is refused.
test('is documented', () => {
  const document = openApiDocument({
    title: 'Kites',
    description: 'Test',
    version: '1',
    servers: [],
    surface: 'public',
    endpoints: [attach as unknown as Endpoint],
  });
  const { requestBody, responses } = document.paths!['/v1/kites']!.post!;
  expect(requestBody).toMatchObject({
    required: true,
    content: {
      'multipart/form-data': {
        schema: { required: ['files'], properties: { files: { type: 'array', minItems: 1, maxItems: 3 } } },
      },
    },
  });
  expect(present(responses)[400]).toMatchObject({ description: expect.stringContaining('invalid_upload') });
  expect(present(responses)[413]).toMatchObject({ description: expect.stringContaining('payload_too_large') });
});
