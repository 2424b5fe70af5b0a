/** What changes while somebody looks: one stream for all tabs of a browser, and texts while models write them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page as Tab } from 'playwright-core';
import { answer, answerWhen, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { launchBrowser } from '../support/programs/chromium.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { openConsole, type ConsoleTab } from './browser.ts';

const launched = launchBrowser();
const isWithout = isMissing('live pages of the console in a browser', await reasonOf(launched));

(isWithout ? describe.skip : describe)('live', () => {
  let provider: OpenAiServer;
  let service: TestService;
  let browser: Browser;
  let acme: Tenant;
  let opened: ConsoleTab;

  beforeAll(async () => {
    provider = await startOpenAiServer();
    const env = {
      LIVE_STREAM_LIFE: '1h',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    };
    [service, browser] = await Promise.all([startTestService({ env }), launched]);
    acme = await service.tenant('acc_acme');
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    await provider?.close();
  });
  beforeEach(() => provider.reset());
  afterEach(() => opened?.context.close());

  /** Streams of the workspace that are open, and how many there were. */
  function watchStreams(context: ConsoleTab['context']) {
    const open = new Set<unknown>();
    let ever = 0;
    context.on('request', (request) => {
      if (new URL(request.url()).pathname !== '/api/v1/cp/v1/live') return;
      open.add(request);
      ever++;
    });
    for (const end of ['requestfinished', 'requestfailed'] as const) {
      context.on(end as 'requestfailed', (request) => open.delete(request));
    }
    return { open: () => open.size, ever: () => ever };
  }
  const rowOf = (tab: Tab, text: string) =>
    tab.getByRole('list', { name: 'Runs' }).getByRole('link').filter({ hasText: text });

  // Guards: six connections an address are all that a browser has; and a tab that is closed takes the others' stream along.
  test('tabs share one stream, and the next one takes it over', async () => {
    opened = await openConsole(browser, service, acme);
    const streams = watchStreams(opened.context);
    await opened.open('/runs');
    const second = await opened.context.newPage();
    await second.goto(`${service.baseUrl}/console/runs`);
    await second.getByText('Not live').waitFor({ state: 'detached' });
    expect(streams.open()).toBe(1);
    const before = streams.ever();
    provider.script(answer('One'));
    await acme.run({ agent: 'assistant', prompt: 'First of them' });
    await rowOf(second, 'First of them').getByText('Succeeded').first().waitFor();
    await opened.tab.close();
    await eventually(() => expect(streams.ever()).toBeGreaterThan(before));
    provider.script(answer('Two'));
    await acme.run({ agent: 'assistant', prompt: 'Second of them' });
    await rowOf(second, 'Second of them').getByText('Succeeded').first().waitFor();
    await second.getByText('Not live').waitFor({ state: 'detached' });
  });

  // Guards: a page that shows nothing until a long answer is whole; the answer itself takes the place of what was read along.
  test('an answer is read while it is written', async () => {
    const due = new Map<string, () => void>();
    const pieces = ['Once upon', ' a **time**', ' it ended.'];
    provider.script(answerWhen(pieces, (piece) => new Promise((resolve) => due.set(piece, resolve))));
    const { body } = await acme.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Tell' });
    opened = await openConsole(browser, service, acme);
    await opened.open(`/runs/${body.run_id}`);
    const shown = opened.tab.getByRole('region', { name: 'Answer' });
    await eventually(() => due.get(pieces[0]!)!());
    await shown.getByText('Once upon', { exact: true }).waitFor();
    await eventually(() => due.get(pieces[1]!)!());
    await shown.getByText('Once upon a **time**', { exact: true }).waitFor();
    await eventually(() => due.get(pieces[2]!)!());
    await shown.getByRole('strong').getByText('time').waitFor();
    await opened.tab.getByRole('heading', { level: 1, name: /Succeeded/ }).waitFor();
    expect(opened.complaints).toEqual([]);
  });
});
