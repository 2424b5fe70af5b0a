import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createLog } from '../../../src/platform/core/log.ts';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { dispatch, tool } from '../../support/fixtures/runs.ts';
import { call, eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { ASKER, look, newTenant, openForm, resultsOf, send, type Page } from './people.ts';

const lines: string[] = [];
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  const destination = { write: (line: string) => void lines.push(line) };
  service = await startTestService({
    env: { BASE_URL: 'https://service.example/' },
    log: createLog({ level: 'trace', pretty: false, destination }),
  });
  tenant = await newTenant(service, 'acc_forms');
});
afterAll(() => service?.close());

const awaits = (pageId: string, more: object = {}) => tool('await_submission', { page_id: pageId, ...more });
const awaiting = async (of: Tenant, page: Pick<Page, 'id'>): Promise<string> => {
  const runId = await dispatch(of, { agent: ASKER, prompt: awaits(page.id) });
  await eventually(async () => {
    const row = first(
      await service.runtime.db.rows<{ waits: string[] }>(sql`select waits from miniapp_pages where id = ${page.id}`),
    );
    if (!row.waits.some((wait) => wait.startsWith(runId))) throw new Error(`run ${runId} does not wait yet`);
  });
  return runId;
};

describe('a miniapp tool', () => {
  // Guards: the agent gets a link at the public address, and its arguments are on the page.
  test('makes a page', async () => {
    const { run_id: runId } = await tenant.run({ agent: ASKER, prompt: tool('order_form', { product: 'chair' }) });
    const result = first(await resultsOf(tenant, runId));
    expect(JSON.parse(result.result_preview)).toEqual({
      page_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: expect.stringMatching(/^https:\/\/service\.example\/miniapps\/[0-9a-f-]{36}_[\w-]{43}$/),
    });
    const page = await openForm(service, tenant, { product: 'canary-chair' });
    const shown = await look(page);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-type')).toContain('text/html');
    expect(shown.body).toContain('canary-chair');
    expect(shown.body).toContain('<h1>Order');
  });

  // Guards: an answer is there for a later run, however much later, and for a run that waits already.
  test.each(['before', 'after'])('is answered %s somebody waits', async (order) => {
    const page = await openForm(service, tenant);
    const submit = async () => expect((await send(page, '{"size":"XL"}')).status).toBe(200);
    if (order === 'before') await submit();
    const runId =
      order === 'before'
        ? await dispatch(tenant, { agent: ASKER, prompt: awaits(page.id) })
        : await awaiting(tenant, page);
    if (order === 'after') await submit();
    await tenant.waitForRun(runId);
    const result = first(await resultsOf(tenant, runId));
    expect(JSON.parse(result.result_preview)).toMatchObject({ page_id: page.id, data: { size: 'XL' } });
  });

  // Guards: every run that waits for a page gets its answer.
  test('is waited for by several', async () => {
    const page = await openForm(service, tenant);
    const waiting = [await awaiting(tenant, page), await awaiting(tenant, page)];
    await send(page, '[1,2]');
    for (const runId of waiting) {
      expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
      expect(first(await resultsOf(tenant, runId)).result_preview).toContain('"data":[1,2]');
    }
  });

  // Guards: a wait that times out leaves the page open, and the model is told for how long.
  test('can be waited for again', async () => {
    const page = await openForm(service, tenant);
    const prompt = awaits(page.id, { timeout_s: 1 });
    const { run_id: runId } = await tenant.run({ agent: ASKER, prompt });
    expect(first(await resultsOf(tenant, runId)).result_preview).toMatch(
      /nobody has answered in time; page .* until 20/,
    );
    await send(page, '"late"');
    const again = await tenant.run({ agent: ASKER, prompt });
    expect(first(await resultsOf(tenant, again.run_id)).result_preview).toContain('"late"');
  });

  // Guards: an expired page takes no answer, and nobody waits for it.
  test('expires', async () => {
    const page = await openForm(service, tenant);
    await service.runtime.db.rows(sql`update miniapp_pages set expires_at = now() where id = ${page.id}`);
    expect((await look(page)).status).toBe(410);
    expect((await send(page, '{}')).status).toBe(404);
    const { run_id: runId } = await tenant.run({ agent: ASKER, prompt: awaits(page.id) });
    expect((await resultsOf(tenant, runId))[0]).toMatchObject({
      status: 'failed',
      result_preview: expect.stringContaining('takes no answer any more'),
    });
  });

  // Guards: a page of another workspace is one that does not exist.
  test('is of its workspace', async () => {
    const page = await openForm(service, tenant);
    await send(page, '{"size":"canary-size"}');
    const other = await newTenant(service, 'acc_others');
    const told = async (pageId: string) => {
      const { run_id: runId } = await other.run({ agent: ASKER, prompt: awaits(pageId) });
      return first(await resultsOf(other, runId)).result_preview.replace(pageId, '<id>');
    };
    expect(await told(page.id)).toBe(await told('01a1ffa3-6d04-75db-8a4a-000000000000'));
  });
});

describe('the page', () => {
  let page: Page;
  beforeAll(async () => {
    page = await openForm(service, tenant);
  });

  // Guards: the page has no origin, and its policy lets nothing out but the answer.
  test('is isolated', async () => {
    const { headers } = await look(page);
    const policy = present(headers.get('content-security-policy'));
    expect(policy).toMatch(/^sandbox allow-scripts allow-forms; default-src 'none';/);
    expect(policy).not.toContain('allow-same-origin');
    const allowed = itemAt(present(/connect-src ([^;]*)/.exec(policy)), 1).split(' ');
    expect(allowed).toEqual([`${service.baseUrl}/miniapps/`, 'https://service.example/miniapps/']);
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  // Guards: nothing in a request can extend the page's policy.
  test('keeps its policy whatever the request says', async () => {
    const { hostname, port, pathname } = new URL(page.url);
    const ask = request({ host: hostname, port, path: pathname, headers: { host: 'a;script-src *, b' } }).end();
    const [response] = (await once(ask, 'response')) as [IncomingMessage];
    response.destroy();
    expect(response.headers['content-security-policy']).not.toMatch(/script-src \*/);
  });

  // Guards: arguments and HTML cannot get out of their places in the document.
  test('takes any text as text', async () => {
    const hostile = '</script><script>alert(1)</script>"\'><iframe src=//evil>&quot;\u2028<!--';
    const { body } = await look(await openForm(service, tenant, { product: hostile, ['__proto__x']: 1 }));
    expect(body.match(/<iframe/g)).toHaveLength(1);
    const [, srcdoc] = present(/srcdoc="([^"]*)"/.exec(body));
    const inner = present(srcdoc).replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    expect(inner.match(/<\/script>/g)).toHaveLength(1);
    const [, value] = present(/window\.ARGS = (JSON\.parse\([^]*?\));\nwindow/.exec(inner));
    expect(new Function(`return ${value}`)()).toMatchObject({ product: hostile });
  });

  // Guards: an answer is validated like any input, and a refused one leaves the page open.
  test.each([
    ['nothing', '', 400],
    ['half of a value', '{"a":', 400],
    ['a NUL', '{"a":"\\u0000"}', 400],
    ['half a surrogate pair', '"\\ud800"', 400],
    ['a deep value', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 400],
    ['a large one', JSON.stringify('x'.repeat(60_000)), 413],
  ])('refuses %s', async (_, body, status) => {
    expect((await send(page, body)).status).toBe(status);
    expect((await look(page)).status).toBe(200);
  });

  // Guards: without the token no page is found, and no other method exists.
  test('is found by its token only', async () => {
    for (const path of ['nobodys-token', page.id, '%00', '%ff', `${page.token}x`]) {
      const other = { ...page, url: `${service.baseUrl}/miniapps/${path}` };
      for (const { status } of [await look(other), await send(other, '{}')]) expect([400, 404]).toContain(status);
    }
    for (const method of ['PUT', 'DELETE', 'OPTIONS']) expect((await call(page.url, method, {})).status).toBe(404);
    expect((await call(`${service.baseUrl}/miniapps`, 'GET', {})).status).toBe(404);
    expect((await call(`${service.controlPlaneUrl}/miniapps/${page.token}`, 'GET', {})).status).toBe(404);
  });

  // Guards: the token, which is the page's credential, is in no log line.
  test('leaves no token in the log', async () => {
    await send(page, '{}');
    expect(lines.some((line) => line.includes('/miniapps/***'))).toBe(true);
    expect(lines.filter((line) => line.includes(page.token))).toEqual([]);
  });

  // Guards: a shared address shows nothing of the page after it was answered.
  test('shows nothing any more once it is answered', async () => {
    const answered = await look(page);
    expect(answered.status).toBe(410);
    expect(answered.body).not.toContain('Order');
  });
});
