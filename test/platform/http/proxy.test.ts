/** The browser proxy in front of a control plane, in this process and in another, over real HTTP. */
import { describe, expect, test } from '@jest/globals';
import { createServer, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { present } from '../../../src/platform/core/present.ts';
import { isAdminStamp, signSession } from '../../../src/platform/http/auth.ts';
import { forwardTo } from '../../../src/platform/http/proxy.ts';
import {
  useProxy,
  servers,
  close,
  PREFIX,
  listen,
  gateway,
  scene,
  controlPlane,
  bases,
  SESSION_SECRET,
  ADMIN_SECRET,
  LARGE,
  claims,
  cookieOf,
  owner,
  type Call,
  call,
} from './proxied.ts';

useProxy();

describe.each(['in process', 'over HTTP'] as const)('%s', (mode) => {
  const proxied = (path: string, init: Call = {}) =>
    call(bases[mode], path, { ...init, headers: { cookie: owner, ...init.headers } });

  // Guards: the cookie is the only credential; a key is none, and nothing is passed on without the cookie.
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
    expect(scene.seen).toBeUndefined();
  });

  // Guards: the request arrives unchanged but for the prefix, and the reply comes back unchanged.
  test('passes on method, path, query and body', async () => {
    const path = '/v1/runs/a%2Fb?limit=1&q=%C3%A4';
    const reply = await proxied(path, { method: 'PATCH', body: '{"a":"ä"}', headers: { 'content-type': 'text/x' } });
    expect(scene.seen).toMatchObject({
      method: 'PATCH',
      url: path,
      body: '{"a":"ä"}',
      headers: { 'content-type': 'text/x' },
    });
    expect(reply).toMatchObject({ status: 202, body: { detail: 'seen' }, headers: { 'x-reply': 'yes' } });
  });

  // Guards: the proxy tells the control plane who calls, and the caller's own claims are ignored.
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
    const { headers } = present(scene.seen);
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

  // Guards: owners and admins are stamped for the very request that they make; members and unverified people are not.
  test.each(['owner', 'admin'] as const)('stamps an %s', async (role) => {
    await proxied('/v1/customers?limit=1', { method: 'POST', headers: { cookie: cookieOf(claims(role)) } });
    const stamp = present(scene.seen).headers['x-service-admin'] as string;
    const stamped = { sub: 'user-1', method: 'POST', path: '/v1/customers' };
    expect(isAdminStamp(stamp, stamped, ADMIN_SECRET)).toBe(true);
    expect(isAdminStamp(stamp, { ...stamped, path: `${PREFIX}/v1/customers` }, ADMIN_SECRET)).toBe(false);
  });
  test('does not stamp a member', async () => {
    const cookie = cookieOf(claims('member'));
    await proxied('/v1/customers', { headers: { cookie } });
    expect(present(scene.seen).headers['x-service-admin']).toBeUndefined();
    expect(present(scene.seen).headers['x-service-session']).toBe(cookie.slice('service_session='.length));
  });

  // Guards: a request without a valid session is not passed on, whatever it asks for.
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
    expect(scene.seen).toBeUndefined();
  });

  // Guards against: addresses of the control plane's listener that are no endpoints, and a server in front of it that
  // rewrites addresses.
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
    expect(scene.seen).toMatchObject({ method: 'POST', url: '/v1/runs' });
    expect(overrides.filter((name) => name in present(scene.seen).headers)).toEqual([]);
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
      expect(scene.seen).toBeUndefined();
      expect(await proxied('/v1/runs', { headers: { origin } })).toMatchObject({ status: 202 });
    },
  );
  test('its own origin can write, and so can what is no browser', async () => {
    const origin = new URL(bases[mode]).origin;
    expect(await proxied('/v1/runs', { method: 'POST', headers: { origin } })).toMatchObject({ status: 202 });
    expect(await proxied('/v1/runs', { method: 'POST' })).toMatchObject({ status: 202 });
  });

  // Guards: a cookie cannot smuggle in a header line. One that tries counts as a missing session and causes no outage.
  test.each(['a%0d%0ax-service-admin:1', 'a%00b', '%C3%A4%E2%82%AC'])('cookie %s is no session', async (value) => {
    const reply = await proxied('/v1/runs', { headers: { cookie: `service_session=${value}` } });
    expect(reply).toMatchObject({ status: 401, body: { error: 'auth_required' } });
    expect(scene.seen).toBeUndefined();
  });
});

describe('over HTTP', () => {
  // Guards: the proxy reaches only the control plane that it was given, whatever address the request line names.
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
    if (scene.seen) expect(scene.seen.headers.host).toBe(new URL(controlPlane.url).host);
  });

  // Guards: an upload is passed on while it comes in, and not collected first.
  test('streams a large upload', async () => {
    const firstBytes = Promise.withResolvers<void>();
    scene.onUpload = async (upload) => {
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

  // Guards: the gateway refuses an endless body itself, because the control plane's refusal can be lost.
  test('refuses an upload without end', async () => {
    const gone = Promise.withResolvers<void>();
    scene.onUpload = async (upload) => {
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
    scene.onUpload = async (upload) => {
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

  // Guards: a reply that breaks off also breaks off for the client, rather than look complete.
  test('a reply that breaks off', async () => {
    await expect(call(bases['over HTTP'], '/v1/broken-off', { headers: { cookie: owner } })).rejects.toThrow();
  });

  // Guards: a control plane that is down is a 502 in the common form, also for requests with a body, and works again
  // when it is back.
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
