import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { createEgress, ForbiddenAddressError, type Egress } from '../../../src/platform/egress/egress.ts';
import { plainFetch } from '../../../src/platform/egress/limits.ts';
import { INSIDE } from '../../support/security/inside-addresses.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';
import { portOf } from '../../support/processes/listening.ts';

const opened: Server[] = [];
const egresses: Egress[] = [];

const listen = async (answer: RequestListener): Promise<number> => {
  const server = createServer(answer);
  opened.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return portOf(server);
};

const egressTo = (allowlist: string[] = [], lookup?: LookupFunction): Egress => {
  const egress = createEgress({ allowlist, allowHttp: true, limits: ANSWER_LIMITS, ...(lookup ? { lookup } : {}) });
  egresses.push(egress);
  return egress;
};

/** Resolves every name to these. */
const dns =
  (...addresses: string[]): LookupFunction =>
  (_, options, callback) => {
    const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (options.all) callback(null, answers);
    else callback(null, first(answers).address, first(answers).family);
  };

/** A server that nothing may reach. */
let touched = 0;
let sentinel: number;

beforeAll(async () => {
  sentinel = await listen((_, response) => response.end('inside'));
  first(opened).on('connection', () => (touched += 1));
});
beforeEach(() => void (touched = 0));
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  await Promise.all(egresses.map((egress) => egress.close()));
  await Promise.all(opened.map((server) => new Promise((closed) => server.close(closed))));
});

// Guards: no spelling of an internal address is reached, and each is refused when a webhook is registered.
test.each(INSIDE)('refuses %s', async (host) => {
  const url = `http://${host}:${sentinel}/`;
  const egress = egressTo();
  await expect(egress.fetch(url)).rejects.toThrow(ForbiddenAddressError);
  expect(egress.isForbiddenUrl(url)).toEqual(expect.any(String));
  expect(touched).toBe(0);
  tried('addresses inside refused');
});

// Guards: the tests around this one can fail: the sentinel counts the requests that reach it.
test('reaches an allow-listed address', async () => {
  const response = await egressTo([`127.0.0.1:${sentinel}`]).fetch(`http://127.0.0.1:${sentinel}/`);
  expect(await response.text()).toBe('inside');
  expect(touched).toBe(1);
});

// Guards: a public name that resolves to an internal address is refused, whatever the spelling, and also among public
// addresses.
test.each([
  [['127.0.0.1']],
  [['169.254.169.254']],
  [['::1']],
  [['::7f00:1']],
  [['::ffff:7f00:1']],
  [['64:ff9b::7f00:1']],
  [['2002:7f00:1::']],
  [['2001:0:7f00:1::1']],
  [['fd00:ec2::254']],
  [['100:0:0:1::1']],
  [['8.8.8.8', '127.0.0.1']],
  [['127.0.0.1', '8.8.8.8']],
  [['2606:4700::1', '::1']],
])('refuses a name that resolves to %j', async (addresses) => {
  const egress = egressTo([], dns(...addresses));
  expect(egress.isForbiddenUrl(`http://innocent.com:${sentinel}/`)).toBeUndefined();
  await expect(egress.fetch(`http://innocent.com:${sentinel}/`)).rejects.toThrow(/innocent.com resolves to/);
  await expect(egress.fetch(`https://innocent.com:${sentinel}/`)).rejects.toThrow(ForbiddenAddressError);
  expect(touched).toBe(0);
  tried('answers of DNS refused');
});

// Guards: allowed requests get through. Loopback counts as public here, which is all that keeps it closed elsewhere.
test('reaches a name that resolves to a public address', async () => {
  jest.spyOn(ipaddr.IPv4.prototype, 'range').mockReturnValue('unicast');
  const response = await egressTo([], dns('127.0.0.1')).fetch(`http://public.com:${sentinel}/`);
  expect(await response.text()).toBe('inside');
  expect(touched).toBe(1);
});

// Guards: an allow-listed host and port opens neither the host's other ports nor other names.
test('allows exactly the host and port on the list', async () => {
  const egress = egressTo([`127.0.0.1:${sentinel + 1}`, `localhost:${sentinel}`]);
  await expect(egress.fetch(`http://127.0.0.1:${sentinel}/`)).rejects.toThrow(ForbiddenAddressError);
  expect(touched).toBe(0);
  expect(() => createEgress({ allowlist: ['127.0.0.1'], limits: ANSWER_LIMITS })).toThrow(
    /127\.0\.0\.1 is not host:port/,
  );
  expect(() => createEgress({ allowlist: ['[::1]'], limits: ANSWER_LIMITS })).toThrow(/not host:port/);
});

/** Headers are ASCII: other characters come as a browser would send them. */
const inHeader = (host: string): string => (/^[ -~]*$/.test(host) ? host : encodeURI(host));

// Guards: no redirect leads to an internal address, whatever its status and spelling.
test.each([301, 302, 303, 307, 308])('does not follow a %i inside', async (status) => {
  for (const host of sized(['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost'], INSIDE)) {
    const location = `http://${inHeader(host)}:${sentinel}/`;
    const port = await listen((_, response) => response.writeHead(status, { location }).end());
    await expect(egressTo([`127.0.0.1:${port}`]).fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(
      ForbiddenAddressError,
    );
    tried('redirects inside refused');
  }
  expect(touched).toBe(0);
});

// Guards: a public server cannot redirect to an address that the operator has allow-listed.
test('does not follow a redirect from a public server to an allow-listed address', async () => {
  const inside = `http://127.0.0.1:${sentinel}/`;
  const outside = jest
    .spyOn(globalThis, 'fetch')
    .mockResolvedValueOnce(new Response(null, { status: 302, headers: { location: inside } }));
  await expect(egressTo([`127.0.0.1:${sentinel}`]).fetch('https://example.com/')).rejects.toThrow(
    ForbiddenAddressError,
  );
  expect(outside).toHaveBeenCalledTimes(1);
  expect(touched).toBe(0);
});

describe('redirects between allowed addresses', () => {
  const seen: IncomingMessage[] = [];
  let from: number;
  let to: number;
  let egress: Egress;

  beforeAll(async () => {
    to = await listen((request, response) => {
      seen.push(request);
      response.end('arrived');
    });
    from = await listen((request, response) => {
      seen.push(request);
      const [, status, where] = present(request.url).split('/');
      if (where === undefined) return response.end('arrived');
      const location = {
        elsewhere: `http://127.0.0.1:${to}/`,
        here: '/',
        round: present(request.url),
        broken: 'http://[',
      };
      return response.writeHead(Number(status), { location: location[where as keyof typeof location] }).end();
    });
    egress = egressTo([`127.0.0.1:${from}`, `127.0.0.1:${to}`]);
  });
  beforeEach(() => void seen.splice(0));

  const secret = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'k', accept: 'text/plain' };

  // Guards: a credential is sent only to the origin that it was meant for.
  test.each([
    ['of the egress', () => egress.fetch],
    ['for addresses of the operator', () => plainFetch({ RESPONSE_MAX_MB: 1, RESPONSE_TIMEOUT: 30_000 })],
  ])('%s carry no credential to another origin', async (_, fetchOf) => {
    const fetch = fetchOf();
    await fetch(`http://127.0.0.1:${from}/302/elsewhere`, { headers: secret });
    expect(itemAt(seen, 1).headers).toMatchObject({ accept: 'text/plain' });
    for (const name of ['authorization', 'cookie', 'x-api-key'])
      expect(itemAt(seen, 1).headers).not.toHaveProperty(name);

    await fetch(`http://127.0.0.1:${from}/302/here`, { headers: secret });
    expect(itemAt(seen, 3).headers).toMatchObject(secret);
  });

  // Guards: method and body change as the fetch standard says.
  test.each([
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [302, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
  ])('turn after %i a %s into a %s', async (status, method, expected) => {
    const response = await egress.fetch(`http://127.0.0.1:${from}/${status}/here`, { method, body: 'data' });
    expect(await response.text()).toBe('arrived');
    expect(response.url).toBe(`http://127.0.0.1:${from}/`);
    expect(itemAt(seen, 1).method).toBe(expected);
    expect(itemAt(seen, 1).headers['content-length']).toBe(expected === 'GET' ? undefined : '4');
  });

  // Guards: a circle of redirects ends, and a caller can ask for none to be followed.
  test('are bounded', async () => {
    await expect(egress.fetch(`http://127.0.0.1:${from}/302/round`)).rejects.toThrow('more than 5 redirects');
    expect(seen).toHaveLength(6);
    await expect(egress.fetch(`http://127.0.0.1:${from}/302/broken`)).rejects.toThrow('no address');

    const kept = await egress.fetch(`http://127.0.0.1:${from}/302/here`, { redirect: 'manual' });
    expect(kept.status).toBe(302);
    await kept.body?.cancel();
    await expect(egress.fetch(`http://127.0.0.1:${from}/302/here`, { redirect: 'error' })).rejects.toThrow(TypeError);
  });
});

// Guards: which forms of a webhook address are accepted.
test.each([
  ['https://example.com/hook', undefined],
  ['https://example.com:8443/hook?a=b', undefined],
  ['https://8.8.8.8/', undefined],
  ['https://[2606:4700::1]/', undefined],
  ['http://example.com/', 'only https'],
  ['ftp://example.com/', 'only https'],
  ['file:///etc/passwd', 'only https'],
  ['data:text/plain,x', 'only https'],
  ['https://user:password@example.com/', 'credentials'],
  ['https://', 'not a valid address'],
  ['example.com', 'not a valid address'],
])('says of %s: %s', (url, reason) => {
  const answer = createEgress({ allowlist: [], limits: ANSWER_LIMITS }).isForbiddenUrl(url);
  if (reason) expect(answer).toContain(reason);
  else expect(answer).toBeUndefined();
});
