/** The client in a real browser, as a page of the service's own would have it: bundled, with the browser's cookie. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { first } from '../../src/platform/core/present.ts';
import { launchBrowser } from '../support/programs/chromium.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const SOURCES = fileURLToPath(new URL('../../client/src', import.meta.url));

let service: TestService;
let tenant: Tenant;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([startTestService({ env: { EXTENSIONS: 'idempotency' } }), launchBrowser()]);
  tenant = await service.tenant('acc_browser');
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

const PROGRAM = `
  import { createClient, isProblem, verifyWebhook } from ${JSON.stringify(join(SOURCES, 'index.ts'))};
  import { runsList } from ${JSON.stringify(join(SOURCES, 'api.ts'))};
  globalThis.tryClient = async () => {
    const aos = createClient({ session: 'browser' });
    const run = await aos.runs.start({ agent: 'assistant', prompt: 'Say something.' });
    const types = [];
    for await (const { event } of run.events()) types.push(event.event_type);
    const { output } = await run.result();
    const { data } = await runsList({ client: aos.http });
    const problem = await aos.runs.open('none').get().catch((error) => isProblem(error, 'not_found'));
    const refused = await verifyWebhook({ secret: 's', header: 't=1,v1=' + 'a'.repeat(64), body: '{}', now: 1 })
      .catch((error) => error.reason);
    return { types, output, runs: data.length, problem, refused };
  };
`;

// Guards: what is built for browsers needs nothing of Node, is small, and works with the cookie of whoever is signed in.
test('it is bundled, and runs', async () => {
  const bundle = await build({
    stdin: { contents: PROGRAM, resolveDir: SOURCES },
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    write: false,
  });
  const { text } = first(bundle.outputFiles);
  // One endpoint was imported: the others are not in it.
  expect(text).not.toContain('feature-flags');
  expect(text.length).toBeLessThan(40_000);

  const context = await browser.newContext();
  await context.addCookies([{ name: 'service_session', value: tenant.session, url: service.baseUrl }]);
  const page = await context.newPage();
  await page.goto(`${service.baseUrl}/healthz`);
  await page.evaluate(text);
  const seen = await page.evaluate('tryClient()');
  expect(seen).toMatchObject({ runs: 1, problem: true, refused: 'no_match', output: expect.any(String) });
  const { types } = seen as { types: string[] };
  expect([types[0], types.at(-1)]).toEqual(['run_received', 'run_completed']);
  await context.close();
});
