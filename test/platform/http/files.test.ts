/** Files in and out, over real HTTP: limits, malformed forms, names, content types and files that cannot be read. */
import { expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { BINARY, endpoint, handle, type FileReply } from '../../../src/platform/http/endpoint.ts';
import { serve } from './serve.ts';

const SECRET = 'postgres://service:hunter2@db/aos';
const shared = { surface: 'public', credential: 'api-key', summary: 'Test' } as const;
const posted = { ...shared, method: 'post', status: 200 } as const;
const Anything = z.object({ seen: z.unknown() });

/** What the next download gives. */
let file: () => FileReply;

const { call } = serve([
  handle(
    endpoint({ ...posted, id: 'kites.upload', path: '/v1/upload', upload: { maxBytes: 1_000 }, reply: Anything }),
    async ({ file: uploaded }) => ({ seen: uploaded && { ...uploaded, bytes: uploaded.bytes.toString() } }),
  ),
  handle(
    endpoint({ ...shared, id: 'kites.file', method: 'get', path: '/v1/file', status: 200, reply: BINARY }),
    async () => file(),
  ),
]);

const form = (name: string, text: string, filename = 'kite.txt') => {
  const data = new FormData();
  data.append(name, new Blob([text]), filename);
  return data;
};
const upload = (body: string | FormData, type?: string) => call('POST', '/v1/upload', { body, ...(type && { type }) });

// Guards: the one file arrives whole, under the name that it was given.
test('upload', async () => {
  const { body } = await upload(form('file', 'string', 'Drache-ä.txt'));
  expect(body.seen).toEqual({ filename: 'Drache-ä.txt', bytes: 'string' });
  expect((await upload('{}')).body).toEqual({});
});

// Guards: exceeded limits and malformed multipart bodies are the caller's mistakes.
test('refused uploads', async () => {
  expect(await upload(form('file', 'a'.repeat(1_001)))).toMatchObject({
    status: 413,
    body: { detail: 'payload_too_large' },
  });
  expect(await upload(form('other', 'a'))).toMatchObject({ status: 400 });
  const two = form('file', 'a');
  two.append('file', new Blob(['b']), 'b.txt');
  expect(await upload(two)).toMatchObject({ status: 400 });
  const type = 'multipart/form-data; boundary=x';
  for (const [body, contentType] of [
    ['--x\r\nbroken', type],
    ['--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ntext', type],
    ['--x\r\nno colon\r\n\r\ntext\r\n--x--\r\n', type],
    ['text', 'multipart/form-data'],
  ] as const) {
    expect(await upload(body, contentType)).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
  }
});

// Guards: a file name is stored like any other text, and a text that cannot be stored is refused before that.
test('a file name is storable', async () => {
  const part = `--x\r\nContent-Disposition: form-data; name="file"; filename*=utf-8''a%00b%0D.txt\r\n\r\ntext\r\n--x--\r\n`;
  const { body } = await upload(part, 'multipart/form-data; boundary=x');
  expect(body.seen).toEqual({ filename: 'ab.txt', bytes: 'text' });
});

// Guards: the content type comes from the content, never from the name that a tenant chose.
test('download', async () => {
  file = () => ({ contentType: 'image/png', body: Readable.from(['bytes']), sizeBytes: 5, filename: 'a.html' });
  const reply = await call('GET', '/v1/file');
  expect(reply).toMatchObject({ status: 200, body: 'bytes' });
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '5',
    'content-disposition': 'attachment; filename=a.html',
    'x-content-type-options': 'nosniff',
  });
});

// Guards: an empty file is served as an empty file.
test('empty download', async () => {
  file = () => ({ contentType: 'image/png', body: Readable.from([]) });
  expect(await call('GET', '/v1/file')).toMatchObject({ status: 200, body: '' });
});

// Guards: a file that cannot be opened is a 500; one that breaks off ends the connection, not the process.
test('failing downloads', async () => {
  const failing = async function* (...parts: string[]) {
    yield* parts;
    throw new Error(SECRET);
  };
  file = () => ({ contentType: 'image/png', body: Readable.from(failing()), sizeBytes: 5, filename: 'a.png' });
  const reply = await call('GET', '/v1/file');
  expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
  expect(reply.headers.get('content-disposition')).toBeNull();

  file = () => ({ contentType: 'image/png', body: Readable.from(failing('by')), sizeBytes: 5 });
  await expect(call('GET', '/v1/file')).rejects.toThrow();

  file = () => ({ contentType: 'image/png', body: Readable.from(['bytes']) });
  expect(await call('GET', '/v1/file')).toMatchObject({ status: 200, body: 'bytes' });
});
