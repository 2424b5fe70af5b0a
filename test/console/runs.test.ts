/** The frame of the console and its runs, as a person has them: in a real browser, against the real service. */
import { beforeAll, expect, test } from '@jest/globals';
import { eventually, startTestService } from '../support/service/service.ts';
import { addMember, openInbox } from '../resources/sign-in/people.ts';
import { testAccessibility } from '../support/console/accessible.ts';
import { describeConsole } from '../support/console/stage.ts';

const HOSTILE =
  '<img src=x onerror="document.title=1"> [click](javascript:document.title=2) **bold** ![p](http://x.example/p.png)';

const inbox = openInbox();
const start = () => startTestService({ log: inbox.log, env: { ENVIRONMENT_NAME: 'tests <&>' } });

await describeConsole('the frame and its runs', { start }, (stage) => {
  const { show } = stage;
  beforeAll(async () => {
    await stage.service.tenant('acc_empty');
    await addMember(stage.service, 'acme', 'ana@acme.example');
  });

  // Guards: a link that a colleague was sent shows the same thing after sign-in.
  test('an address survives sign-in', async () => {
    const { tab, open } = await show({}, null);
    await open('/runs?status=failed&agent=writer');
    await tab.getByLabel('E-mail address').fill('ana@acme.example');
    await tab.keyboard.press('Enter');
    await tab
      .getByLabel('Six-digit code')
      .fill(await inbox.codeOf(await tab.locator('input[name=challenge_id]').inputValue()));
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'No run is like this' }).waitFor();
    expect(new URL(tab.url()).search).toBe('?status=failed&agent=writer');
    expect(await tab.title()).toBe('Runs · tests <&> · Console');
    await tab.getByRole('button', { name: 'Clear the filters' }).click();
    await tab.getByRole('heading', { name: 'No runs yet' }).waitFor();
  });

  // Guards: a run that is started in a page is seen to end there, without a reload; a session that ends comes back to it.
  test('a run is started, watched to its end, and found again', async () => {
    const { tab, complaints, open } = await show();
    await open('/runs');
    await tab.getByRole('link', { name: 'New run' }).click();
    await tab.getByLabel('Prompt').fill('What is 17% of 2340? [[tool:calculator {"expression":"2340*0.17"}]]');
    await tab.getByLabel('Agent').selectOption('assistant');
    await tab.getByRole('button', { name: 'Start the run' }).click();
    await tab.getByRole('region', { name: 'Answer' }).getByText('397.8').waitFor();
    await tab.getByRole('heading', { name: /Succeeded assistant/ }).waitFor();
    await tab.getByRole('tab', { name: 'Timeline' }).click();
    await tab.getByRole('button', { name: /Tool called calculator/ }).click();
    await tab.getByRole('complementary', { name: 'Selected event' }).getByText('call_id').first().waitFor();
    const pane = tab.url();
    expect(new URL(pane).search).toMatch(/event=\d+/);
    await tab.reload();
    await tab.getByRole('complementary', { name: 'Selected event' }).waitFor();
    await tab.getByRole('tab', { name: 'Transcript' }).click();
    await tab.getByText('turn 2').waitFor();
    await tab.getByRole('tab', { name: 'Context window' }).click();
    await tab.getByRole('cell', { name: 'System prompt' }).waitFor();
    await tab.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Runs' }).click();
    await tab.getByLabel('Search runs by id or text').fill('17% of');
    await tab
      .getByRole('list', { name: 'Runs' })
      .getByRole('link', { name: /Succeeded assistant/ })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  // Guards: rows that are on screen change where they stand, and new ones wait while somebody points at the list.
  test('a list is kept fresh and does not move under a pointer', async () => {
    const { body } = await stage.acme.api('POST', '/v1/runs', { agent: 'writer', prompt: 'Slow [[sleep:120000]]' });
    const { tab, open } = await show();
    await open('/runs');
    const list = tab.getByRole('list', { name: 'Runs' });
    const slow = list.getByRole('link', { name: /writer/ }).filter({ hasText: 'Slow' });
    await slow
      .getByText(/Queued|Running/)
      .first()
      .waitFor();
    await slow.hover();
    await stage.acme.run({ agent: 'assistant', prompt: 'A later one' });
    await stage.acme.cp('POST', `/v1/runs/${body.run_id}/cancel`);
    await slow.getByText('Cancelled').first().waitFor();
    await tab.getByRole('button', { name: '1 new run' }).waitFor();
    expect(await list.getByText('A later one').count()).toBe(0);
    await tab.getByRole('button', { name: '1 new run' }).click();
    await list.getByText('A later one').first().waitFor();
  });

  // Guards: a row that is further down than the newest page and is still said to run, although it has ended long since.
  test('a run below the newest page changes where it stands', async () => {
    const busy = await stage.service.tenant('acc_busy');
    const { body } = await busy.api('POST', '/v1/runs', { agent: 'writer', prompt: 'Far below [[sleep:120000]]' });
    for (let i = 0; i < 55; i++) await busy.api('POST', '/v1/runs', { agent: 'assistant', prompt: `Above it ${i}` });
    const { tab, open } = await show({}, busy);
    await open('/runs');
    const list = tab.getByRole('list', { name: 'Runs' });
    await list.getByRole('link').first().hover();
    const slow = list.getByRole('link').filter({ hasText: 'Far below' });
    await eventually(async () => {
      await tab.mouse.wheel(0, 4_000);
      expect(await slow.count()).toBe(1);
    });
    await slow
      .getByText(/Queued|Running/)
      .first()
      .waitFor();
    await busy.cp('POST', `/v1/runs/${body.run_id}/cancel`);
    await slow.getByText('Cancelled').first().waitFor();
  });

  // Guards: texts of agents are data; the page's policy and its Markdown take nothing of theirs.
  test('an answer that is written as a page stays a text', async () => {
    const run = await stage.acme.run({ agent: 'assistant', prompt: HOSTILE });
    const { tab, complaints, open } = await show();
    await open(`/runs/${run.run_id}`);
    await tab.getByRole('region', { name: 'Answer' }).getByText('bold').first().waitFor();
    await tab.getByRole('region', { name: 'Answer' }).getByRole('strong').first().waitFor();
    expect(await tab.locator('main img, main script, main a[href^="javascript"]').count()).toBe(0);
    expect(await tab.title()).toMatch(/^Succeeded assistant/);
    expect(complaints).toEqual([]);
  });

  // Guards: everything is reached without a pointer; keys are quiet where somebody writes, and can be switched off.
  test('by keyboard alone', async () => {
    const { tab, open } = await show();
    await open('/runs/new');
    await tab.getByLabel('Prompt').waitFor();
    await tab.keyboard.type('g r');
    expect(await tab.getByLabel('Prompt').inputValue()).toBe('g r');
    await tab.locator('#main').focus();
    await tab.keyboard.press('g');
    await tab.keyboard.press('r');
    await tab.getByRole('list', { name: 'Runs' }).getByRole('link').first().waitFor();
    await tab.keyboard.press('j');
    await tab.keyboard.press('j');
    await tab.keyboard.press('k');
    const first = await tab.getByRole('list', { name: 'Runs' }).getByRole('link').first().getAttribute('data-row');
    await tab.waitForFunction(`document.activeElement.dataset.row === '${first}'`);
    await tab.keyboard.press('Enter');
    await tab.waitForURL(`**/runs/${first}`);
    await tab.keyboard.press('Control+k');
    await tab.getByRole('combobox', { name: 'Search and commands' }).fill('new');
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'New run' }).waitFor();
    await tab.locator('#main').focus();
    await tab.keyboard.press('?');
    await tab.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await tab.keyboard.press('Escape');
    await tab.getByRole('button', { name: stage.acme.caller.actor }).click();
    await tab.getByRole('checkbox', { name: 'Keys of one letter' }).uncheck();
    await tab.keyboard.press('Escape');
    await tab.locator('#main').focus();
    await tab.keyboard.press('?');
    expect(await tab.getByRole('dialog', { name: 'Keyboard' }).isVisible()).toBe(false);
  });

  // Guards: WCAG 2.2 AA on each page, in both themes, at a desk and on a phone; nothing wider than the window.
  testAccessibility(stage, async () => {
    const run = await stage.acme.run({ agent: 'assistant', prompt: '[[tool:calculator {"expression":"1+1"}]]' });
    return [
      ['/runs', 'list'],
      ['/runs/new', 'textbox'],
      [`/runs/${run.run_id}`, 'complementary'],
      [`/runs/${run.run_id}?tab=timeline&event=1`, 'list'],
      [`/runs/${run.run_id}?tab=transcript`, 'listitem'],
      [`/runs/${run.run_id}?tab=context`, 'table'],
      ['/nowhere', 'heading'],
    ];
  });
});
