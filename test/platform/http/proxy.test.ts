/** The browser proxy in front of a control plane, in this process and in another, over real HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { errorHandler, notFound } from '../../../src/platform/http/app.ts';
import { isAdminStamp, signSession, type SessionClaims } from '../../../src/platform/http/auth.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { createBrowserProxy, forwardTo, type ProxyOptions } from '../../../src/platform/http/proxy.ts';
import { endpoints, fillPath } from '../../support/http/endpoints.ts';

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

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const PATHS = ['/v1/runs', '/v1/runs/{id}', '/v1/customers', '/v1/upload', '/v1/broken-off'];
const DECLARED = METHODS.flatMap((method) =>
  PATHS.map((path) => ({ endpoint: { method, path, upload: { maxBytes: LARGE } } as Endpoint })),
);

const gateway = (forward: RequestHandler, routes: ProxyOptions['routes'] = DECLARED) => {
  const app = express();
  const secrets = { sessionSecret: SESSION_SECRET, adminSecret: ADMIN_SECRET };
  const proxy = createBrowserProxy({ ...secrets, routes, forward });
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
  test('does not stamp a member', async () => {
    const cookie = cookieOf(claims('member'));
    await proxied('/v1/customers', { headers: { cookie } });
    expect(seen!.headers['x-service-admin']).toBeUndefined();
    expect(seen!.headers['x-service-session']).toBe(cookie.slice('service_session='.length));
  });

  // Guards: what is no session gets no further than here, whatever it asks for.
  test.each([
    ['an ended one', cookieOf(claims('owner', 1))],
    ['a forged one', `service_session=${signSession(claims('owner'), 'another secret')}`],
    ['one without a signature', `${owner.split('.')[0]}`],
    ['one of no role', cookieOf(claims('root' as 'owner'))],
    ['any text', 'service_session=nonsense'],
  ])('%s is not passed on', async (_name, cookie) => {
    for (const path of ['/v1/runs', '/metrics', '/readyz']) {
      expect(await proxied(path, { headers: { cookie } })).toMatchObject({
        status: 401,
        body: { detail: 'auth_required' },
      });
    }
    expect(seen).toBeUndefined();
  });

  // Guards: the control plane's listener has more than its endpoints, and may have something before it that rewrites.
  test('headers that name another method or address are taken away', async () => {
    const overrides = [
      'x-http-method-override',
      'x-http-method',
      'x-method-override',
      'x-original-url',
      'x-rewrite-url',
    ];
    const headers = Object.fromEntries(overrides.map((name) => [name, name.endsWith('url') ? '/metrics' : 'DELETE']));
    expect((await proxied('/v1/runs', { method: 'POST', headers })).status).toBe(202);
    expect(seen).toMatchObject({ method: 'POST', url: '/v1/runs' });
    expect(overrides.filter((name) => name in seen!.headers)).toEqual([]);
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

describe.each(['in process', 'over HTTP'] as const)('what is declared, %s', (mode) => {
  const controlPlaneEndpoints = endpoints.filter(({ surface }) => surface === 'control-plane');
  const isDeclared = (method: string, path: string) =>
    controlPlaneEndpoints.some(
      (endpoint) =>
        endpoint.method === method.toLowerCase() &&
        new RegExp(`^${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}/?$`).test(path),
    );
  let base: string;
  beforeAll(async () => {
    const app = express().use((request, response) => {
      seen = { method: request.method, url: request.url, headers: request.headers };
      response.status(202).json({ detail: 'seen' });
    });
    const forward = mode === 'in process' ? app : forwardTo((await listen(app)).url);
    const routes = controlPlaneEndpoints.map((endpoint) => ({ endpoint }));
    base = (await gateway(forward as RequestHandler, routes)).url + PREFIX;
  });

  const latest = (): typeof seen => seen;
  const ask = async (method: string, path: string) => {
    seen = undefined;
    const { status } = await call(base, path, { method, headers: { cookie: owner } });
    return { status, reached: latest() };
  };

  // Guards: every endpoint is reached, or the test after this one would prove nothing.
  test('is passed on', async () => {
    for (const endpoint of controlPlaneEndpoints) {
      const path = fillPath(endpoint, {});
      expect(await ask(endpoint.method.toUpperCase(), path)).toMatchObject({ status: 202, reached: { url: path } });
    }
  });

  /** What a reader with other habits than ours would take a path for. */
  const readings = (path: string): string[] => {
    const decoded = [path];
    for (let round = 0; round < 3; round++) {
      decoded.push(
        decoded.at(-1)!.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
      );
    }
    return decoded.flatMap((text) => {
      const slashed = text.replaceAll('\\', '/').replace(/;[^/]*/g, '');
      return [text, slashed].map((one) => new URL(`http://x${one.replace(/\/{2,}/g, '/')}`).pathname);
    });
  };
  const UP = ['..', '%2e%2e', '.%2E', '%252e%252e', '..;', '..%2f..', '..%5c..', '..%2f..%2f..%2f', '%2e%2e%2f%2e%2e'];
  const OTHERS = [
    '/metrics',
    '/readyz',
    '/healthz',
    '/codec/decode',
    '/',
    '/v1',
    '/v1/nothing',
    '/docs',
    '/v1/cp/metrics',
  ];

  // Guards: an address that is not declared, in whatever spelling, gets nowhere: neither as it is written nor as
  // something on the way could read it.
  test('is all that is passed on', async () => {
    const spelled = controlPlaneEndpoints.flatMap((endpoint) => {
      const path = fillPath(endpoint, {});
      const steps = UP.map((up) => endpoint.path.replace(/\{\w+\}/g, up)).filter((one) => one !== endpoint.path);
      return [
        ...[path.toUpperCase(), path.replace('/v1', '/V1'), path.replace('/v1/', '/v1//'), `/${path}`, `${path}//`],
        ...[
          `${path}.`,
          path.replace('v1', 'v1.'),
          path.replace('v1', '%761'),
          path.replaceAll('/', '%2f'),
          `/.${path}`,
        ],
        ...[
          `${path}%2f..%2f..%2fmetrics`,
          `${path}/../../metrics`,
          `${path};/../metrics`,
          `/x/..${path}`,
          path.slice(1),
        ],
        ...steps.flatMap((one) => [one, `${one}/metrics`]),
      ];
    });
    const elsewhere = OTHERS.flatMap((path) => [path, ...UP.map((up) => `/v1/${up}${path}`)]);
    const asked = [...new Set([...spelled, ...elsewhere])].filter((path) => path.startsWith('/'));
    const strayed: string[] = [];
    for (const path of asked) {
      for (const method of ['GET', 'POST']) {
        const { reached } = await ask(method, path);
        if (!reached) continue;
        const isKept = readings(reached.url!).every((one) => isDeclared(reached.method!, one));
        if (reached.method !== method || !isKept) strayed.push(`${method} ${path} -> ${reached.url}`);
      }
    }
    expect(strayed).toEqual([]);
    expect(asked.length).toBeGreaterThan(1_000);
  });

  // Guards: methods that nothing is declared for, HEAD and OPTIONS among them, which a router answers by itself.
  test('with its methods alone', async () => {
    for (const method of ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'PUT']) {
      const { reached } = await ask(method, '/v1/runs');
      expect([method, reached]).toEqual([method, undefined]);
    }
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

  // Guards: a body without end is refused by the gateway: the answer of a control plane that gives it up can be lost.
  test('refuses an upload without end', async () => {
    const gone = Promise.withResolvers<void>();
    onUpload = async (upload) => {
      for await (const _ of upload.on('close', gone.resolve));
    };
    const upload = request(`${bases['over HTTP']}/v1/upload`, { method: 'POST', headers: { cookie: owner } });
    const refused = Promise.withResolvers<IncomingMessage>();
    upload.on('error', () => {}).on('response', refused.resolve);
    const send = () => !upload.destroyed && upload.write(Buffer.alloc(2 ** 20), send);
    send();
    const response = await refused.promise;
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
    upload.destroy();
    await gone.promise;
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
