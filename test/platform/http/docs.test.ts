/** The reference page: what it serves, and that nothing on it can reach beyond the service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { createServer, type Server } from 'node:http';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { docsRouter } from '../../../src/platform/http/docs.ts';
import { portOf } from '../../support/processes/listening.ts';

const built = { public: 0, controlPlane: 0 };
const documents = {
  public: () => ({ openapi: '3.1.0', built: ++built.public }),
  controlPlane: () => ({ openapi: '3.1.0', built: ++built.controlPlane }),
};

let server: Server;
let base: string;
beforeAll(async () => {
  server = createServer(express().use(docsRouter({ documents }))).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${portOf(server)}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

// Guards: each document is built once, when somebody first asks for it.
test('builds each document once, on the first request', async () => {
  expect(built).toEqual({ public: 0, controlPlane: 0 });
  for (const path of ['/openapi/public.json', '/openapi/control-plane.json']) {
    for (let request = 0; request < 2; request++) {
      const response = await fetch(base + path);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toEqual({ openapi: '3.1.0', built: 1 });
    }
  }
});

// Guards: each page shows its own document and links to the other, and everything that it loads is served here.
test.each([
  ['/docs', '/openapi/public.json', '/docs/control-plane'],
  ['/docs/control-plane', '/openapi/control-plane.json', '/docs'],
])('%s', async (path, documentUrl, other) => {
  const page = await (await fetch(base + path)).text();
  expect(page).toContain(`url: '${documentUrl}'`);
  expect(page).toContain(`<a href="${path}" aria-current="page">`);
  expect(page).toContain(`<a href="${other}">`);
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map(([, url]) => present(url))
    .filter((url) => url !== 'data:,');
  expect(loaded).toHaveLength(4);
  for (const url of loaded) {
    expect(url).toMatch(/^\/[^/]/);
    expect((await fetch(base + url)).status).toBe(200);
  }
});

// Guards: only the page's own scripts run, they connect to the service alone, and no nonce is used twice.
test('content security policy', async () => {
  const nonces = new Set<string>();
  for (let request = 0; request < 2; request++) {
    const response = await fetch(`${base}/docs`);
    const policy = present(response.headers.get('content-security-policy'));
    const nonce = itemAt(present(/script-src 'nonce-([^']+)';/.exec(policy)), 1);
    nonces.add(nonce);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const scripts = present((await response.text()).match(/<script[^>]*>/g));
    expect(scripts.every((script) => script.includes(`nonce="${nonce}"`))).toBe(true);
  }
  expect(nonces.size).toBe(2);
});

// Guards: of the package, only the files that the page needs are served.
test.each(['index.html', 'swagger-initializer.js', 'package.json', '..%2fpackage.json', '.', 'toString'])(
  'asset %s is not served',
  async (name) => {
    expect((await fetch(`${base}/docs/assets/${name}`)).status).toBe(404);
  },
);
