/** What a stream shows follows what its caller may see now, and not what they could see when it began. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { z } from 'zod';
import { keyStanding, type Role } from '../../../src/platform/core/rights.ts';
import { createSurface } from '../../../src/platform/http/app.ts';
import { endpoint, handle, streamOf } from '../../../src/platform/http/endpoint.ts';
import { frameOf } from '../../../src/platform/http/stream.ts';
import { openStream } from '../../support/http/event-stream.ts';
import { portOf } from '../../support/processes/listening.ts';

const PAGE = { page: 'https://aos.example/miniapps/abc-DEF' };
const REDACTED = { page: 'https://aos.example/miniapps/***' };

let server: Server;
let makerRole: Role = 'member';
const looks: (() => void)[] = [];
const senders: (() => void)[] = [];

beforeAll(async () => {
  const pages = endpoint({
    id: 'pages.follow',
    surface: 'public',
    method: 'get',
    path: '/v1/pages',
    credential: 'api-key',
    summary: 'Test',
    status: 200,
    reply: streamOf(z.object({ page: z.string() })),
  });
  const route = handle(
    pages,
    async () =>
      async function* () {
        yield frameOf({ event: 'page', data: PAGE });
        await new Promise<void>((resolve) => senders.push(resolve));
        yield frameOf({ event: 'page', data: PAGE });
      },
  );
  const authenticate = async () => {
    looks.splice(0).forEach((looked) => looked());
    return { workspaceId: 'acc_a', customerId: 'a', actor: 'api-key:1', standing: keyStanding(makerRole) };
  };
  server = createServer(express().use(createSurface({ routes: [route], authenticate }))).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

// Guards against: a key whose maker only looks by now, and whose streams go on with addresses that take answers. The look at the
// credential is one for all of its streams, and each hears of it.
test('streams of a demoted maker are redacted, all of the credential', async () => {
  const url = `http://127.0.0.1:${portOf(server)}/v1/pages`;
  const streams = [await openStream(url, {}), await openStream(url, {})];
  for (const stream of streams) expect((await stream.first(() => true)).data).toEqual(PAGE);
  makerRole = 'viewer';
  // The second look begins after the first one was heard of.
  for (let look = 1; look <= 2; look++) await new Promise<void>((resolve) => looks.push(resolve));
  senders.splice(0).forEach((send) => send());
  for (const stream of streams) {
    await stream.ended;
    expect(stream.events.map(({ data }) => data)).toEqual([PAGE, REDACTED]);
  }
});
