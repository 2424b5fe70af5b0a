/** What changes while somebody looks: one stream for all tabs of a browser, and texts while models write them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Page as Tab } from 'playwright-core';
import { first, itemAt, present } from '../../src/platform/core/present.ts';
import { answer, answerWhen, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { eventually, startTestService } from '../support/service/service.ts';
import { describeConsole } from '../support/console/stage.ts';

let provider: OpenAiServer | undefined;
const start = async () => {
  provider = await startOpenAiServer();
  const env = {
    LIVE_STREAM_LIFE: '1h',
    OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
    OPENAI_COMPATIBLE_MODEL: 'scripted',
  };
  return startTestService({ env });
};

await describeConsole('live', { start }, (stage) => {
  const { show } = stage;
  afterAll(() => provider?.close());
  beforeEach(() => present(provider).reset());
  let unwatch: () => void = () => {};
  afterEach(() => unwatch());

  /** Streams of the workspace that the service was asked for, by their addresses, from now on. */
  function watchStreams(): string[] {
    const asked: string[] = [];
    const note = (message: unknown) => {
      const { url } = (message as { request: IncomingMessage }).request;
      if (url!.startsWith('/api/v1/cp/v1/live')) asked.push(url!);
    };
    subscribe('http.server.request.start', note);
    unwatch = () => unsubscribe('http.server.request.start', note);
    return asked;
  }
  /** A page of runs says where it is not live. */
  async function untilLive(tab: Tab): Promise<void> {
    await tab.getByRole('navigation').first().waitFor();
    await tab.getByText('Not live').waitFor({ state: 'detached' });
  }
  async function openLive(tab: Tab): Promise<void> {
    await tab.goto(`${stage.service.baseUrl}/console/runs`);
    await untilLive(tab);
  }
  const rowOf = (tab: Tab, text: string) =>
    tab.getByRole('list', { name: 'Runs' }).getByRole('link').filter({ hasText: text });

  // Guards: six connections an address are all that a browser has; and a tab that is closed takes the others' stream along.
  test('tabs share one stream, and the next one takes it over', async () => {
    const opened = await show();
    const asked = watchStreams();
    // One after the other: whichever is there first has the stream.
    await openLive(opened.tab);
    const second = await opened.context.newPage();
    await openLive(second);
    expect(asked).toHaveLength(1);
    present(provider).script(answer('One'));
    await stage.acme.run({ agent: 'assistant', prompt: 'First of them' });
    await rowOf(second, 'First of them').getByText('Succeeded').first().waitFor();
    expect(asked).toHaveLength(1);
    await opened.tab.close();
    await eventually(() => expect(asked).toHaveLength(2));
    present(provider).script(answer('Two'));
    await stage.acme.run({ agent: 'assistant', prompt: 'Second of them' });
    await rowOf(second, 'Second of them').getByText('Succeeded').first().waitFor();
    await untilLive(second);
    expect(asked).toHaveLength(2);
  });

  // Guards: what happens while no tab has the stream, as the one that had it has gone, and the next one has heard of nothing yet.
  test('the tab that takes the stream over misses nothing', async () => {
    const opened = await show();
    await openLive(opened.tab);
    const second = await opened.context.newPage();
    await openLive(second);
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<string>();
    await second.route('**/v1/live*', async (route) => {
      ask(route.request().url());
      await mayGoOn;
      await route.continue();
    });
    await opened.tab.close();
    expect(new URL(await asked).searchParams.get('after')).not.toBeNull();
    present(provider).script(answer('Three'));
    await stage.acme.run({ agent: 'assistant', prompt: 'In between' });
    goOn();
    await rowOf(second, 'In between').getByText('Succeeded').first().waitFor();
  });

  // Guards: a cursor that is thrown away because the service was busy or away: whatever happened meanwhile would be missed.
  test('a cursor outlives refusals, and is dropped only where the service does not know it', async () => {
    const opened = await show();
    await openLive(opened.tab);
    const second = await opened.context.newPage();
    await second.clock.install();
    await openLive(second);
    const asked: (string | null)[] = [];
    let refusal: { status: number; body: string } | undefined = { status: 429, body: '{"detail":{"code":"busy"}}' };
    await second.route('**/v1/live*', async (route) => {
      const after = new URL(route.request().url()).searchParams.get('after');
      asked.push(after);
      if (refusal && after !== null) await route.fulfill({ ...refusal, contentType: 'application/json' });
      else await route.continue();
    });
    await opened.tab.close();
    // The third attempt comes after two waits, each of which ends when the clock is moved on. An attempt is two requests.
    await eventually(async () => {
      await second.clock.fastForward('01:00');
      expect(asked.length).toBeGreaterThanOrEqual(6);
    });
    expect(new Set(asked).size).toBe(1);
    expect(asked[0]).not.toBeNull();
    refusal = { status: 422, body: '{"detail":"cursor_unknown: it is none of this service"}' };
    await eventually(async () => {
      await second.clock.fastForward('10:00');
      expect(asked.at(-1)).toBeNull();
    });
    await untilLive(second);
  });

  // Guards: a page that shows nothing until a long answer is whole; the answer itself takes the place of what was read along.
  test('an answer is read while it is written', async () => {
    const due = new Map<string, () => void>();
    const pieces = ['Once upon', ' a **time**', ' it ended.'];
    present(provider).script(answerWhen(pieces, (piece) => new Promise((resolve) => due.set(piece, resolve))));
    const { body } = await stage.acme.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Tell' });
    const opened = await show();
    await opened.open(`/runs/${body.run_id}`);
    const shown = opened.tab.getByRole('region', { name: 'Answer' });
    await eventually(() => present(due.get(first(pieces)))());
    await shown.getByText('Once upon', { exact: true }).waitFor();
    await eventually(() => present(due.get(itemAt(pieces, 1)))());
    await shown.getByText('Once upon a **time**', { exact: true }).waitFor();
    await eventually(() => present(due.get(itemAt(pieces, 2)))());
    await shown.getByRole('strong').getByText('time').waitFor();
    await opened.tab.getByRole('heading', { level: 1, name: /Succeeded/ }).waitFor();
    expect(opened.complaints).toEqual([]);
  });
});
