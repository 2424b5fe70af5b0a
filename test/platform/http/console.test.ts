/** How the console is served: on the gateway, also of a gateway apart from its control plane. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { GATEWAYS, startTestService, type TestService } from '../../support/service/service.ts';

describe.each(GATEWAYS)('%s', (_name, options) => {
  let service: TestService;
  beforeAll(async () => {
    const env = { ENVIRONMENT_NAME: 'staging "<x>"' };
    service = await startTestService({ ...options, worker: false, env });
  });
  afterAll(() => service?.close());

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(service.baseUrl + path, { headers, redirect: 'manual' });
  const PERSON = { accept: 'text/html,application/xhtml+xml' };
  const script = async () =>
    itemAt(present(/src="(\/console\/assets\/[\w-]+\.js)"/.exec(await (await ask('/console')).text())), 1);

  // Guards: a browser is led to the console, and a program gets the same answer as before there was one.
  test('the root leads people there', async () => {
    const led = await ask('/', PERSON);
    expect([led.status, led.headers.get('location')]).toEqual([302, '/console']);
    expect((await ask('/', { accept: '*/*' })).status).toBe(404);
    expect((await ask('/')).status).toBe(404);
  });

  // Guards: every address serves the page, its policy allows no inline script, and no name can break out of the page.
  test('any address below it is the page, under a strict policy', async () => {
    for (const path of ['/console', '/console/runs/01abc?tab=timeline', '/console/a/b/c']) {
      const page = await ask(path, { ...PERSON, cookie: 'console_theme=dark' });
      expect(page.status).toBe(200);
      expect(page.headers.get('cache-control')).toBe('no-store');
      const policy = present(page.headers.get('content-security-policy'));
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      const text = await page.text();
      expect(text).toContain('content="staging &quot;&lt;x&gt;&quot;"');
      expect(text).toContain('<html data-theme="dark"');
      expect(text).not.toMatch(/<script(?![^>]* src=)/);
    }
    const forged = await (await ask('/console', { cookie: 'console_theme="><script>' })).text();
    expect(forged).not.toContain('data-theme');
  });

  // Guards: files with a hash in their name are cached for ever, and nothing is compressed while somebody waits.
  test.each(['br', 'gzip', 'identity'])('its files are kept for ever, as %s', async (encoding) => {
    const path = await script();
    const file = await ask(path, { 'accept-encoding': encoding });
    expect(file.status).toBe(200);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-encoding')).toBe(encoding);
    expect(file.headers.get('vary')).toMatch(/accept-encoding/i);
    expect(file.headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(await file.text()).toContain('/console');
  });

  // Guards against: serving the page in the place of a script of an earlier release, which a browser would try to run.
  test('a file that there is not is not the page', async () => {
    for (const path of [
      '/console/assets/index-old.js',
      '/console/assets/../../package.json',
      '/console/assets/%2e%2e%2findex.html',
    ]) {
      const missing = await ask(path);
      expect([path, missing.status]).not.toEqual([path, 500]);
      expect(await missing.text()).not.toContain('"dependencies"');
    }
    expect((await ask('/console/assets/index-old.js')).status).toBe(404);
  });
});
