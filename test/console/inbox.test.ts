/** The inbox in the console: what waits, with what is needed to decide, answered by keyboard, on a phone, and by one person only. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/programs/chromium.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { expectAccessible } from './accessible.ts';
import { isWiderThanItsWindow, openConsole, PHONE, type ConsoleTab } from './browser.ts';

const launched = launchBrowser();
const isWithout = isMissing('the inbox of the console in a browser', await reasonOf(launched));

(isWithout ? describe.skip : describe)('inbox', () => {
  let service: TestService;
  let browser: Browser;
  let acme: Tenant;
  const opened: ConsoleTab[] = [];
  const show = async (options = {}) => {
    const tab = await openConsole(browser, service, acme, options);
    opened.push(tab);
    return tab;
  };

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), launched]);
    acme = await service.tenant('acc_acme');
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(() => Promise.all(opened.splice(0).map(({ context }) => context.close())));

  /** @returns the id of what waits */
  async function waiting(title: string, more: object = {}): Promise<string> {
    const { body } = await acme.cp('POST', '/v1/projects', {
      workflow_slug: 'blog-post',
      brief: 'Why small teams should write their decisions down',
      title,
      ...more,
    });
    return eventually(async () => {
      const { body: page } = await acme.cp('GET', `/v1/inbox?project_id=${body.id}`);
      return page.data[0].id as string;
    });
  }

  // Guards: an approver who never touches a pointer, and sees what was decided, by whom, and what is next.
  test('by keyboard alone: found, looked at, rejected with what should change, and asked again', async () => {
    await waiting('Rejected by keys');
    const { tab, complaints, open } = await show();
    await open('/runs');
    await tab.getByRole('link', { name: /^Inbox/ }).waitFor();
    await tab.locator('#main').focus();
    await tab.keyboard.press('g');
    await tab.keyboard.press('i');
    const row = tab.getByRole('list', { name: 'Waits' }).getByRole('link').first();
    await row.getByText('Rejected by keys').waitFor();
    await tab.keyboard.press('j');
    await tab.keyboard.press('Enter');
    const wait = tab.getByRole('article', { name: /waits for an answer/ });
    await wait.getByText(/What it is about: write/).waitFor();
    await tab.keyboard.press('c');
    await tab.keyboard.type('Shorter, please');
    await tab.keyboard.press('Tab');
    await tab.locator('#main').focus();
    await tab.keyboard.press('r');
    await tab.waitForFunction(`document.activeElement.dataset.answer === 'reject'`);
    await tab.keyboard.press('Enter');
    await tab.getByText(`${acme.caller.actor} rejected`).waitFor();
    await tab.getByText('Shorter, please').first().waitFor();
    await tab.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Inbox' }).click();
    await row.click();
    await wait.getByText(/What it is about: write, attempt 2/).waitFor();
    await wait.getByText('Decided before (1)').waitFor();
    await wait.getByLabel('Only what has changed since the attempt before').first().check();
    await wait
      .getByRole('group', { name: 'Changes from attempt 1 to 2' })
      .or(wait.getByText('The two are the same.'))
      .waitFor();
    expect(complaints).toEqual([]);
  });

  // Guards: two people who decide at once: one counts, and the other is told who that was and what they said.
  test('two browsers answer one gate, and one is told who was first', async () => {
    const id = await waiting('Answered twice');
    const [first, second] = [await show(), await show()];
    // The second one is not told by the stream: its answer is what finds out.
    await second.tab.route('**/v1/live*', (route) => route.abort());
    let isBlind = false;
    await second.tab.route('**/v1/inbox**', (route) => {
      if (route.request().method() === 'POST') isBlind = false;
      return isBlind ? route.abort() : route.continue();
    });
    await Promise.all([first, second].map(({ open }) => open(`/inbox/${id}`)));
    await second.tab.getByRole('button', { name: 'Reject' }).waitFor();
    isBlind = true;
    await first.tab.getByLabel('Comment').fill('Good as it is');
    await first.tab.getByRole('button', { name: 'Approve' }).click();
    await first.tab.getByText(`${acme.caller.actor} approved`).waitFor();
    await second.tab.getByRole('button', { name: 'Reject' }).click();
    const told = second.tab.getByRole('alert');
    await told.getByText(/was faster, and approved/).waitFor();
    await told.getByText('Good as it is').waitFor();
    await eventually(async () => {
      const { body } = await acme.cp('GET', `/v1/inbox/${id}`);
      expect([body.status, body.answer]).toEqual(['settled', 'approve']);
    });
  });

  // Guards: an answer to a draft that nobody has seen: what is wrong is said, and the new one is shown.
  test('what has changed since it was looked at is said, and nothing is decided', async () => {
    const id = await waiting('Changed meanwhile');
    const { tab, open } = await show();
    let isOld = true;
    await tab.route(`**/v1/inbox/${id}/answer`, (route) =>
      route.continue(
        isOld ? { postData: JSON.stringify({ ...(route.request().postDataJSON() as object), revision: 99 }) } : {},
      ),
    );
    await open(`/inbox/${id}`);
    await tab.getByRole('button', { name: 'Approve' }).click();
    await tab
      .getByRole('alert')
      .getByText(/It has changed since you looked/)
      .waitFor();
    isOld = false;
    await tab.getByRole('button', { name: 'Approve' }).click();
    await tab.getByText(`${acme.caller.actor} approved`).waitFor();
  });

  // Guards: a project that has run out of money goes on from the phone, by as much as was said; the badge counts along.
  test('a budget is raised on a phone, while the list and its count follow', async () => {
    const id = await waiting('Out of money', { cost_budget_usd: '0.00001' });
    const { tab, open } = await show(PHONE);
    await open('/inbox?kind=paused');
    await tab.getByRole('link', { name: /Out of money/ }).click();
    const raise = tab.getByRole('button', { name: 'Raise the budget' });
    expect(await raise.isDisabled()).toBe(true);
    await tab.getByLabel('Raise by, US dollars').fill('2');
    await raise.click();
    await tab.getByText(`${acme.caller.actor} raised the budget`).waitFor();
    const { body } = await acme.cp('GET', `/v1/inbox/${id}`);
    expect(body.answer).toBe('raise_budget');
    await tab.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Inbox' }).click();
    await tab.getByRole('list', { name: 'Waits' }).getByText('Out of money').first().waitFor();
    expect(await isWiderThanItsWindow(tab)).toBe(false);
  });

  describe.each([
    ['light', {}],
    ['dark', {}],
    ['light', PHONE],
  ] as const)('in the %s theme', (colorScheme, device) => {
    // Guards: WCAG 2.2 AA on each page, in both themes and on a phone; nothing wider than the window.
    test(`axe finds nothing${device === PHONE ? ' on a phone' : ''}`, async () => {
      const id = await waiting('For axe');
      const shown = await show({ ...device, colorScheme });
      const pages: readonly [path: string, shown: string][] = [
        ['/inbox', 'list'],
        [`/inbox/${id}`, 'article'],
        ['/inbox?status=settled', 'list'],
        ['/inbox?kind=lost_effect', 'heading'],
      ];
      await expectAccessible(shown, pages);
    });
  });
});
