/** Pictures of agents: what is taken, what is stored, and that nothing stays behind. Real pictures, real database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Server } from 'node:http';
import sharp from 'sharp';
import request from 'supertest';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import type { FileStore } from '../../../src/platform/files/files.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { MAX_AVATAR_BYTES } from '../../../src/resources/agents/model.ts';
import { agentRoutes } from '../../../src/resources/agents/routes.ts';
import { createAgentService } from '../../../src/resources/agents/service.ts';
import { createAgentStore } from '../../../src/resources/agents/store.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let server: Server;
const callers = new Map<string, Caller>();
const stored = new Map<string, Buffer>();
const files: Pick<FileStore, 'put' | 'get' | 'discard'> = {
  async put(key, bytes) {
    stored.set(key, bytes);
  },
  async get(key) {
    const bytes = stored.get(key);
    if (!bytes) throw new Error(`no file ${key}`);
    return bytes;
  },
  async discard(key) {
    stored.delete(key);
  },
};

beforeAll(async () => {
  database = await openTestDatabase();
  for (const id of ['acc_acme', 'acc_other']) {
    const caller = await makeWorkspace(database.db, id);
    callers.set(caller.customerId, caller);
  }
  const agents = createAgentService({
    store: createAgentStore(database.db),
    workspaces: createWorkspaceStore(database.db, TENANT_DATA),
    files,
    references: { warningsFor: async () => ({}), requireUnused: async () => {}, requireCallable: async () => {} },
    recentRuns: async () => ({ total: 0, succeeded: 0, failed: 0, cost_usd: '0', last: [] }),
    publicVisibility: false,
  });
  const routes = agentRoutes({ agents }).filter(({ endpoint }) => endpoint.surface === 'control-plane');
  const app = express();
  app.use(
    createSurface({
      routes,
      authenticate: async (_credential, { headers }) => present(callers.get(String(headers['x-test-workspace']))),
    }),
    notFound,
    errorHandler(createLog({ level: 'silent', pretty: false })),
  );
  server = app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await database.close();
});

const address = (slug: string) => `/v1/agents/${slug}/avatar`;
const put = (slug: string, bytes: Buffer, { workspace = 'acme', field = 'file', name = 'picture.png' } = {}) =>
  request(server).put(address(slug)).set('x-test-workspace', workspace).attach(field, bytes, name);
const get = (slug: string, workspace = 'acme') => request(server).get(address(slug)).set('x-test-workspace', workspace);
const remove = (slug: string, workspace = 'acme') =>
  request(server).delete(address(slug)).set('x-test-workspace', workspace);
const picture = (width = 80, height = 40) => sharp({ create: { width, height, channels: 3, background: '#c0ffee' } });
const create = (slug: string) =>
  request(server)
    .post('/v1/agents')
    .set('x-test-workspace', 'acme')
    .send({ slug, model: 'm', prompt: 'p' })
    .expect(201);

describe('a picture', () => {
  beforeEach(() => stored.clear());

  // Guards: the avatar that is served is always a square WebP, whatever was uploaded, for built-in and custom agents.
  test.each(['png', 'jpeg', 'webp'] as const)('may be %s and is served as 512 px WebP', async (format) => {
    await get('writer', 'other').expect(404, { detail: 'not_found' });
    const answer = await put('writer', await picture().toFormat(format).toBuffer(), { name: 'lies.txt' }).expect(200);
    expect(answer.body).toMatchObject({ slug: 'writer', has_avatar: true });

    const served = await get('writer').buffer(true).expect(200);
    expect(served.headers).toMatchObject({ 'content-type': 'image/webp', 'x-content-type-options': 'nosniff' });
    expect(await sharp(served.body).metadata()).toMatchObject({ format: 'webp', width: 512, height: 512 });
    expect([...stored.keys()]).toEqual([expect.stringMatching(/^avatars\/acme\/[0-9a-f-]{36}\.webp$/)]);
    await get('writer', 'other').expect(404, { detail: 'not_found' });
    await remove('writer').expect(204);
  });

  // Guards: metadata of a picture, such as the place where it was taken, is removed.
  test('loses its metadata and keeps its orientation', async () => {
    // Red on its left; turned by a quarter to the right, as the orientation says, red is at the top.
    const photo = await picture(100, 100)
      .composite([
        { input: { create: { width: 50, height: 100, channels: 3, background: '#ff0000' } }, left: 0, top: 0 },
      ])
      .jpeg()
      .withExif({ IFD0: { Copyright: 'canary-copyright' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect((await sharp(photo).metadata()).orientation).toBe(6);
    expect(photo.includes('canary-copyright')).toBe(true);
    await put('editor', photo).expect(200);

    const [kept] = stored.values();
    expect(present(kept).includes('canary-copyright')).toBe(false);
    expect((await sharp(kept).metadata()).exif).toBeUndefined();
    const topRight = await sharp(kept).extract({ left: 312, top: 0, width: 200, height: 200 }).toBuffer();
    const { dominant } = await sharp(topRight).stats();
    expect(dominant.r).toBeGreaterThan(200);
    expect(dominant.g).toBeLessThan(60);
  });

  // Guards: an old file is deleted once nothing refers to it, also when several uploads replace it at once.
  test('replaces the one before it', async () => {
    const bytes = await picture().png().toBuffer();
    await put('coder', bytes).expect(200);
    const [first] = stored.keys();
    await Promise.all(Array.from({ length: 12 }, () => put('coder', bytes).expect(200)));
    expect(stored.size).toBe(1);
    expect(stored.has(present(first))).toBe(false);
    await get('coder').expect(200);
  });

  test('can be taken away, also twice', async () => {
    await put('tester', await picture().png().toBuffer()).expect(200);
    await remove('tester').expect(204, '');
    await remove('tester').expect(204);
    await get('tester').expect(404, { detail: 'not_found' });
    expect(stored.size).toBe(0);
  });

  test('goes with its custom agent', async () => {
    await create('painter');
    await put('painter', await picture().png().toBuffer()).expect(200);
    await request(server).delete('/v1/agents/painter').set('x-test-workspace', 'acme').expect(204);
    expect(stored.size).toBe(0);
    await create('painter');
    await get('painter').expect(404);
  });

  test('belongs to an agent that exists', async () => {
    await put('nobody', await picture().png().toBuffer()).expect(404, { detail: 'not_found' });
    await remove('nobody').expect(404);
    await get('nobody').expect(404);
    expect(stored.size).toBe(0);
  });
});

describe('an upload that is no picture', () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const cases: [string, () => Promise<Buffer>][] = [
    ['text', async () => Buffer.from('hello')],
    ['nothing', async () => Buffer.alloc(0)],
    ['SVG', async () => svg],
    ['GIF', () => picture().gif().toBuffer()],
    ['AVIF', () => picture().avif().toBuffer()],
    ['PNG that breaks off', async () => (await picture(600, 600).png().toBuffer()).subarray(0, 60)],
    [
      'PNG that unfolds to 64 million pixels',
      () =>
        sharp(Buffer.alloc(8_000 * 8_000), { raw: { width: 8_000, height: 8_000, channels: 1 } })
          .png()
          .toBuffer(),
    ],
    ['more than 2 MB', async () => Buffer.concat([await picture().png().toBuffer(), Buffer.alloc(MAX_AVATAR_BYTES)])],
  ];

  // Guards: each fault of an upload is the caller's mistake, with a reason, and nothing of it is stored.
  test.each(cases)('%s is refused', async (_case, make) => {
    stored.clear();
    const response = await put('designer', await make());
    expect([response.status, response.body]).toEqual([400, { detail: expect.stringMatching(/picture/) }]);
    expect(stored.size).toBe(0);
    await get('designer').expect(404);
  });

  test('in another field or in no form is refused', async () => {
    await put('designer', await picture().png().toBuffer(), { field: 'image' }).expect(400);
    const bare = () => request(server).put(address('designer')).set('x-test-workspace', 'acme');
    await bare().expect(400);
    await bare().send({ file: 'x' }).expect(400);
    await bare().set('content-type', 'multipart/form-data').send('x').expect(400);
    await bare().set('content-type', 'multipart/form-data; boundary=b').send('--b\r\nbroken').expect(400);
  });
});
