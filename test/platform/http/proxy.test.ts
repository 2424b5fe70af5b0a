/** The browser proxy in front of a control plane, in this process and in another, over real HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { errorHandler, notFound } from '../../../src/platform/http/app.ts';
import { isAdminStamp, signSession, type SessionClaims } from '../../../src/platform/http/auth.ts';
import { createBrowserProxy, forwardTo } from '../../../src/platform/http/proxy.ts';

const SESSION_SECRET = 'secret of the sessions';
const ADMIN_SECRET = 'secret of the stamps';
const PREFIX = '/api/v1/cp';
const LARGE = 32 * 1024 * 1024;

const claims = (role: SessionClaims['role'], exp = Date.now() / 1000 + 60): SessionClaims => ({
  sub: 'user-1',
  email: 'ana@example.com',
  workspace: 'acc_acme',
  customer_id: 'acme',
  role,
  iat: 0,
  exp,
});
const cookieOf = (session: SessionClaims) => `service_session=${signSession(session, SESSION_SECRET)}`;
const owner = cookieOf(claims('owner'));

const servers: Server[] = [];
async function listen(handler: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
const close = (server: Server) => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
};

const gateway = (forward: RequestHandler) => {
  const app = express();
  const proxy = createBrowserProxy({ sessionSecret: SESSION_SECRET, adminSecret: ADMIN_SECRET, forward });
  return listen(app.use(PREFIX, proxy).use(notFound, errorHandler(pino({ level: 'silent' }))));
};

/** What reached the control plane last. */
let seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body?: string } | undefined;
beforeEach(() => {
  seen = undefined;
});

let controlPlane: { server: Server; url: string };
let bases: Record<'in process' | 'over HTTP', string>;
let onUpload: (request: IncomingMessage) => Promise<unknown>;
beforeAll(async () => {
  const app = express();
  app.post('/v1/upload', async (request, response) => {
    response.json(await onUpload(request));
  });
  app.get('/v1/broken-off', (_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half', () => response.destroy());
  });
  app.use(async (request, response) => {
    const { method, url, headers } = request;
    seen = { method, url, headers, body: await text(request) };
    response.status(202).set('x-reply', 'yes').json({ detail: 'seen' });
  });
  controlPlane = await listen(app);
  bases = {
    'in process': (await gateway(app)).url + PREFIX,
    'over HTTP': (await gateway(forwardTo(controlPlane.url))).url + PREFIX,
  };
});
afterAll(() => Promise.all(servers.map(close)));

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}
/** With `node:http`, because `fetch` sets its own Host and refuses some headers. */
async function call(base: string, path: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request(base + path, { method, headers }, resolve)
      .on('error', reject)
      .end(body),
  );
  const answer = await text(response);
  return { status: response.statusCode, headers: response.headers, body: answer ? JSON.parse(answer) : undefined };
}

describe.each(['in process', 'over HTTP'] as const)('%s', (mode) => {
  const proxied = (path: string, init: Call = {}) =>
    call(bases[mode], path, { ...init, headers: { cookie: owner, ...init.headers } });

  // Guards: the cookie is the one credential; a key is none, and nothing goes through without it.
  test.each([
    ['nothing', {}],
    ['a key', { authorization: 'Bearer svc_pk_abc' }],
    ['the session header', { 'x-service-session': signSession(claims('owner'), SESSION_SECRET) }],
    ['another cookie', { cookie: 'other=1' }],
    ['an empty cookie', { cookie: 'service_session=' }],
  ])('%s is no credential', async (_name, headers) => {
    expect(await call(bases[mode], '/v1/runs', { headers })).toMatchObject({
      status: 401,
      body: { error: 'auth_required' },
    });
    expect(seen).toBeUndefined();
  });

  // Guards: the request arrives as it was sent, without the prefix, and the reply comes back as it was given.
  test('passes on method, path, query and body', async () => {
    const path = '/v1/runs/a%2Fb?limit=1&q=%C3%A4';
    const reply = await proxied(path, { method: 'PATCH', body: '{"a":"ä"}', headers: { 'content-type': 'text/x' } });
    expect(seen).toMatchObject({
      method: 'PATCH',
      url: path,
      body: '{"a":"ä"}',
      headers: { 'content-type': 'text/x' },
    });
    expect(reply).toMatchObject({ status: 202, body: { detail: 'seen' }, headers: { 'x-reply': 'yes' } });
  });

  // Guards: the control plane hears from the proxy who calls, never from the caller.
  test('of x-service-* headers only those of the OTP gate pass', async () => {
    await proxied('/v1/runs', {
      headers: {
        cookie: cookieOf(claims('member')),
        authorization: 'Bearer svc_pk_abc',
        'x-service-session': 'forged',
        'X-Service-Admin': 't=1,v1=forged',
        'x-service-anything': '1',
        'X-Service-OTP-Challenge': 'challenge',
        'X-Service-OTP-Code': '123456',
        'x-other': 'kept',
      },
    });
    const { headers } = seen!;
    expect(headers).toMatchObject({
      'x-service-session': expect.stringMatching(/^[\w-]+\.[\w-]+$/),
      'x-service-otp-challenge': 'challenge',
      'x-service-otp-code': '123456',
      'x-other': 'kept',
    });
    for (const name of ['x-service-admin', 'x-service-anything', 'authorization', 'cookie']) {
      expect(headers[name]).toBeUndefined();
    }
  });

  // Guards: owners and admins are stamped for the very request they make; members and the unverified are not.
  test.each(['owner', 'admin'] as const)('stamps an %s', async (role) => {
    await proxied('/v1/customers?limit=1', { method: 'POST', headers: { cookie: cookieOf(claims(role)) } });
    const stamp = seen!.headers['x-service-admin'] as string;
    const stamped = { sub: 'user-1', method: 'POST', path: '/v1/customers' };
    expect(isAdminStamp(stamp, stamped, ADMIN_SECRET)).toBe(true);
    expect(isAdminStamp(stamp, { ...stamped, path: `${PREFIX}/v1/customers` }, ADMIN_SECRET)).toBe(false);
  });
  test.each([
    ['member', cookieOf(claims('member'))],
    ['expired owner', cookieOf(claims('owner', 1))],
    ['forged owner', `service_session=${signSession(claims('owner'), 'another secret')}`],
  ])('does not stamp a session of a %s', async (_name, cookie) => {
    await proxied('/v1/customers', { headers: { cookie } });
    expect(seen!.headers['x-service-admin']).toBeUndefined();
    expect(seen!.headers['x-service-session']).toBe(cookie.slice('service_session='.length));
  });

  // Guards: a page of another site cannot use a person's cookie to change anything.
  test.each(['https://evil.example', 'null', 'http://127.0.0.1', 'nonsense'])(
    'Origin %s cannot write',
    async (origin) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expect(await proxied('/v1/runs', { method, headers: { origin } })).toMatchObject({
          status: 403,
          body: { detail: 'foreign_origin' },
        });
      }
      expect(seen).toBeUndefined();
      expect(await proxied('/v1/runs', { headers: { origin } })).toMatchObject({ status: 202 });
    },
  );
  test('its own origin can write, and so can what is no browser', async () => {
    const origin = new URL(bases[mode]).origin;
    expect(await proxied('/v1/runs', { method: 'POST', headers: { origin } })).toMatchObject({ status: 202 });
    expect(await proxied('/v1/runs', { method: 'POST' })).toMatchObject({ status: 202 });
  });

  // Guards: a cookie cannot smuggle a header line, and one that could is a missing session rather than an outage.
  test.each(['a%0d%0ax-service-admin:1', 'a%00b', '%C3%A4%E2%82%AC'])('cookie %s is no session', async (value) => {
    const reply = await proxied('/v1/runs', { headers: { cookie: `service_session=${value}` } });
    expect(reply).toMatchObject({ status: 401, body: { error: 'auth_required' } });
    expect(seen).toBeUndefined();
  });
});

describe('over HTTP', () => {
  // Guards: the proxy reaches the control plane that it was given, whatever address the request line names.
  test.each(['http://evil.example', '//evil.example'])('a request line of %s stays here', async (start) => {
    const { port } = new URL(bases['over HTTP']);
    const path = `${start}${PREFIX}/v1/runs`;
    const status = await new Promise((resolve, reject) =>
      request({ host: '127.0.0.1', port, path, headers: { cookie: owner } }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end(),
    );
    expect([202, 404]).toContain(status);
    if (seen) expect(seen.headers.host).toBe(new URL(controlPlane.url).host);
  });

  // Guards: an upload is passed on while it comes in and is not collected first.
  test('streams a large upload', async () => {
    const firstBytes = Promise.withResolvers<void>();
    onUpload = async (upload) => {
      let bytes = 0;
      for await (const chunk of upload) {
        bytes += (chunk as Buffer).length;
        firstBytes.resolve();
      }
      return { bytes };
    };
    const answer = Promise.withResolvers<string>();
    const upload = request(`${bases['over HTTP']}/v1/upload`, { method: 'POST', headers: { cookie: owner } });
    upload.on('error', answer.reject).on('response', (response) => answer.resolve(text(response)));
    upload.write(Buffer.alloc(1024));
    // Arrives although the request has not ended.
    await firstBytes.promise;
    upload.end(Buffer.alloc(LARGE - 1024));
    expect(JSON.parse(await answer.promise)).toEqual({ bytes: LARGE });
  });

  // Guards: a client that goes away in the middle of an upload does not leave the control plane waiting.
  test('passes on that the client went away', async () => {
    const arrived = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    onUpload = async (upload) => {
      upload.once('data', () => arrived.resolve()).once('error', () => aborted.resolve());
      await aborted.promise;
    };
    const upload = request(`${bases['over HTTP']}/v1/upload`, { method: 'POST', headers: { cookie: owner } });
    upload.on('error', () => {});
    upload.write('part');
    await arrived.promise;
    upload.destroy();
    await aborted.promise;
    expect(await call(bases['over HTTP'], '/v1/runs', { headers: { cookie: owner } })).toMatchObject({ status: 202 });
  });

  // Guards: a reply that breaks off breaks off for the client too, rather than look complete.
  test('a reply that breaks off', async () => {
    await expect(call(bases['over HTTP'], '/v1/broken-off', { headers: { cookie: owner } })).rejects.toThrow();
  });

  // Guards: a control plane that is down is a 502 in the common form, for requests with a body too; it comes back.
  test('502 while the control plane is down', async () => {
    const gone = await listen(() => {});
    const base = (await gateway(forwardTo(gone.url))).url + PREFIX;
    await close(gone.server);
    const headers = { cookie: owner };
    const down = { status: 502, body: { detail: 'runtime_unreachable' } };
    expect(await call(base, '/v1/runs', { headers })).toMatchObject(down);
    expect(await call(base, '/v1/runs', { method: 'POST', headers, body: 'a'.repeat(1_000) })).toMatchObject(down);

    const { port } = new URL(gone.url);
    const back = createServer((_request, response) => response.end('{}')).listen(Number(port), '127.0.0.1');
    servers.push(back);
    await new Promise((resolve) => back.once('listening', resolve));
    expect(await call(base, '/v1/runs', { headers })).toMatchObject({ status: 200 });
  });
});
