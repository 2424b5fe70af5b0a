/** The browser proxy passes on what is declared, as it is declared, whichever way it is run. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { last, present } from '../../../src/platform/core/present.ts';
import { forwardTo } from '../../../src/platform/http/proxy.ts';
import { endpoints, fillPath } from '../../support/http/endpoints.ts';
import { useProxy, PREFIX, listen, gateway, scene, owner, call } from './proxied.ts';

useProxy();

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
      scene.seen = { method: request.method, url: request.url, headers: request.headers };
      response.status(202).json({ detail: 'seen' });
    });
    const forward = mode === 'in process' ? app : forwardTo((await listen(app)).url);
    const routes = controlPlaneEndpoints.map((endpoint) => ({ endpoint }));
    base = (await gateway(forward as RequestHandler, routes)).url + PREFIX;
  });

  const latest = (): typeof scene.seen => scene.seen;
  const ask = async (method: string, path: string) => {
    scene.seen = undefined;
    const { status } = await call(base, path, { method, headers: { cookie: owner } });
    return { status, reached: latest() };
  };

  // Guards: every endpoint is reached through the proxy; otherwise the test after this one would prove nothing.
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
        last(decoded).replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
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

  // Guards: an undeclared address, in whatever spelling, is not passed on: neither as it is written nor as something on
  // the way might read it.
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
        const isKept = readings(present(reached.url)).every((one) => isDeclared(present(reached.method), one));
        if (reached.method !== method || !isKept) strayed.push(`${method} ${path} -> ${reached.url}`);
      }
    }
    expect(strayed).toEqual([]);
    expect(asked.length).toBeGreaterThan(1_000);
  });

  // Guards against: methods that nothing declares, such as HEAD and OPTIONS, which a router answers by itself.
  test('with its methods alone', async () => {
    for (const method of ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'PUT']) {
      const { reached } = await ask(method, '/v1/runs');
      expect([method, reached]).toEqual([method, undefined]);
    }
  });
});
